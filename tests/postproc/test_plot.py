"""Learning curves: what is drawn where, and that a picture comes out."""

import unittest

import numpy as np

import samples
from files_test import FilesTest, edited
from lockstep_post import PostError, read_run
from lockstep_post.plot import draw, epochs_trained, plot


class Curves(FilesTest):
    def setUp(self):
        super().setUp()
        self.path = samples.write_metrics(self.directory / "first" / "metrics.h5")

    def lines(self, *paths):
        """Per panel (loss, accuracy, learning rate) the (x, y) lists of its lines."""
        figure = draw([read_run(path) for path in paths])
        return [[(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
                for axes in figure.axes]

    def test_stand_where_they_were_measured(self):
        loss, accuracy, rate = self.lines(self.path)
        logged = [0.5, 1, 1.5, 2, 2.5, 3]  # two steps an epoch, each of them logged
        self.assertEqual(loss, [(logged, [2.5, 1.25, 1, 1, 0.5, 0.5]),
                                ([0.5, 1.5, 2.5], [2, 1, 0.5]), ([1, 3], [2, 0.75])])
        self.assertEqual(accuracy, [([0.5, 1.5, 2.5], [30, 60, 90]), ([1, 3], [25, 75])])
        self.assertEqual(rate, [(logged, [0.1, 0.1, 0.05, 0.05, 0, 0])])

    def test_of_several_runs_lie_in_one_picture_in_their_own_colours(self):
        other = samples.write_metrics(self.directory / "second" / "metrics.h5", epochs=2)
        axes = draw([read_run(self.path), read_run(other)]).axes
        self.assertEqual([len(panel.lines) for panel in axes], [6, 4, 2])
        first, second = axes[2].lines
        self.assertNotEqual(first.get_color(), second.get_color())
        labels = [text.get_text() for text in axes[1].get_legend().get_texts()]
        self.assertEqual(labels, ["first: best validation 75.00 %",
                                  "second: best validation 25.00 %"])

    def test_of_runs_with_one_name_are_told_apart_by_path(self):
        other = samples.write_metrics(self.directory / "x" / "first" / "metrics.h5")
        axes = draw([read_run(self.path), read_run(other)]).axes
        labels = [text.get_text().split(":")[0] for text in axes[1].get_legend().get_texts()]
        self.assertEqual(labels, [str(self.path.parent), str(other.parent)])

    def test_are_labelled_with_units(self):
        axes = draw([read_run(self.path)]).axes
        self.assertEqual([panel.get_ylabel() for panel in axes],
                         ["loss (nats per sample)", "accuracy (%)", "learning rate"])
        self.assertEqual({panel.get_xlabel() for panel in axes}, {"epochs trained"})

    def test_are_logarithmic_where_the_loss_falls_by_decades(self):
        self.assertEqual(draw([read_run(self.path)]).axes[0].get_yscale(), "linear")
        with edited(self.path) as file:
            file["epoch/val_loss"][2] = 0.01
        self.assertEqual(draw([read_run(self.path)]).axes[0].get_yscale(), "log")

    def test_come_without_validation_or_logged_steps_and_with_nan(self):
        with edited(self.path) as file:
            for name in ("val_loss", "val_accuracy", "train_loss"):
                file[f"epoch/{name}"][...] = np.nan
            file["epoch/val_samples"][...] = 0
            for name in samples.STEP:
                values = file[f"step/{name}"][:0]
                del file[f"step/{name}"]
                file[f"step/{name}"] = values
        loss, _, rate = self.lines(self.path)
        self.assertEqual(loss[0], ([], []))
        self.assertEqual(rate, [([1, 2, 3], [0.1, 0.05, 0])])

    def test_count_steps_of_the_unfinished_epoch_by_those_of_the_last(self):
        run = read_run(samples.write_metrics(self.directory / "m.h5", epochs=2))
        steps = np.array([0, 1, 2, 3, 4, 5, 6])  # epochs ended at 2 and 4
        self.assertEqual(epochs_trained(run, steps).tolist(), [0, 0.5, 1, 1.5, 2, 2.5, 3])


class Pictures(FilesTest):
    def test_are_of_the_kind_that_the_suffix_says(self):
        run = read_run(samples.write_metrics(self.directory / "metrics.h5"))
        for name, start in (("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")):
            plot([run], self.directory / name)
            self.assertTrue((self.directory / name).read_bytes().startswith(start), name)

    def test_of_other_kinds_are_refused(self):
        run = read_run(samples.write_metrics(self.directory / "metrics.h5"))
        with self.assertRaisesRegex(PostError, r"a\.txt: unknown suffix(.|\n)*\.png, \.pdf"):
            plot([run], self.directory / "a.txt")

    def test_need_a_finished_epoch(self):
        run = read_run(samples.write_metrics(self.directory / "metrics.h5", epochs=0))
        with self.assertRaisesRegex(PostError, "no epoch has finished yet"):
            plot([run], self.directory / "a.png")

    def test_name_the_place_that_cannot_be_written(self):
        run = read_run(samples.write_metrics(self.directory / "metrics.h5"))
        with self.assertRaisesRegex(PostError, "nowhere/a.png: No such file"):
            plot([run], self.directory / "nowhere" / "a.png")


if __name__ == "__main__":
    unittest.main()
