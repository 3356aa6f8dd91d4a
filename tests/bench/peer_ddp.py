"""The peer: the same network and batches in PyTorch DistributedDataParallel over gloo.

Started by bench.py as `mpiexec -n N python peer_ddp.py ...`; rank 0 prints one JSON line. Tuned as
its users would: channels last, bf16 autocast, static graph, gradients as views of the buckets,
fused SGD. With `--default` it is what a first script has: none of these, float32.
"""
import time

STARTED = time.time()

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from mini_resnet import MiniResNet  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", required=True, help="file through which the ranks meet")
    parser.add_argument("--default", action="store_true", help="float32, nothing tuned")
    parser.add_argument("--fp32", action="store_true", help="tuned, but without autocast")
    parser.add_argument("--batch_size", type=int, default=64, help="images a rank and step")
    parser.add_argument("--block", type=int, default=5, help="steps a block")
    parser.add_argument("--blocks", type=int, default=4, help="blocks; the first is a warm-up")
    return parser.parse_args()


def main():
    args = arguments()
    rank, world = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    dist.init_process_group("gloo", store=dist.FileStore(args.store, world), rank=rank,
                            world_size=world)
    torch.manual_seed(42)
    model = MiniResNet()
    images = torch.randn(args.batch_size, 3, 32, 32)
    labels = torch.randint(0, 10, (args.batch_size,))
    if args.default:
        network = DistributedDataParallel(model)
    else:
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
        network = DistributedDataParallel(model, static_graph=True, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4,
                                fused=not args.default)
    autocast = not (args.default or args.fp32)

    def step():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            loss = F.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    step()
    first_step = time.time() - float(os.environ.get("LOCKSTEP_LAUNCH_TIME", STARTED))
    rates = []
    for _ in range(args.blocks):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(args.block):
            step()
        rates.append(world * args.batch_size * args.block / (time.perf_counter() - begin))
    peak_rss = torch.tensor(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    dist.all_reduce(peak_rss, dist.ReduceOp.MAX)
    if rank == 0:
        print(json.dumps({"version": f"PyTorch {torch.__version__}",
                          "first_step_seconds": first_step, "images_per_second": rates[1:],
                          "peak_rss_bytes": peak_rss.item()}))
    dist.barrier()
    dist.destroy_process_group()
    # PyTorch's threads sometimes abort while the interpreter ends, after all has been measured.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
