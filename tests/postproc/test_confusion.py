"""Which classes were taken for which: the text and the picture."""

import unittest

import samples
from files_test import FilesTest, edited, replace
from lockstep_post import PostError, read_run
from lockstep_post.confusion import draw_confusion, format_confusion, plot_confusion

EXPECTED = """\
class  samples  recognised  most often taken for
    0        3     66.67 %                 1 (1)
    1        1    100.00 %                     -
epoch 3: 3 of 4 samples recognised, 2 of 2 classes present
"""


class Confusion(FilesTest):
    def setUp(self):
        super().setUp()
        self.path = samples.write_metrics(self.directory / "metrics.h5")

    def test_worst_classes_come_first_each_with_what_it_was_taken_for(self):
        self.assertEqual(format_confusion(read_run(self.path)), EXPECTED)

    def test_classes_without_samples_are_left_out(self):
        with edited(self.path) as file:
            replace(file, "validation/confusion", [[1, 0, 0], [0, 0, 0], [2, 0, 1]])
        lines = format_confusion(read_run(self.path)).splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:-1]], ["2", "0"])
        self.assertIn("2 of 3 classes present", lines[-1])

    def test_picture_shows_shares_of_each_class(self):
        axes = draw_confusion(read_run(self.path)).axes[0]
        shown = axes.images[0].get_array()
        self.assertEqual([[round(float(share), 2) for share in row] for row in shown],
                         [[66.67, 33.33], [0, 100]])
        self.assertEqual([text.get_text() for text in axes.texts], ["2", "1", "", "1"])

    def test_picture_is_written(self):
        plot_confusion(read_run(self.path), self.directory / "confusion.png")
        self.assertGreater((self.directory / "confusion.png").stat().st_size, 5000)
        with self.assertRaisesRegex(PostError, "unknown suffix"):
            plot_confusion(read_run(self.path), self.directory / "confusion.txt")

    def test_a_run_without_validation_is_refused(self):
        path = samples.write_metrics(self.directory / "fresh.h5", epochs=0)
        with self.assertRaisesRegex(PostError, "no confusion matrix"):
            format_confusion(read_run(path))


if __name__ == "__main__":
    unittest.main()
