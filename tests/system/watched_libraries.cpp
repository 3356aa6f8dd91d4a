// Linked into the program, it watches the libraries below it: every collective of MPI that this
// rank calls, by communicator, and the HDF5 objects that are open when HDF5 and MPI end. At
// MPI_Finalize that is written to WATCHED_DIRECTORY/rank_N.txt, or nothing where that is unset.
//
// Communicators are named by descent: "world.1.0" is the first duplicate of the second duplicate of
// the world. Two threads of a rank may use two communicators in any order, so each has a sequence
// of its own.
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>

namespace {

struct Watched {
  std::mutex mutex;
  std::map<MPI_Comm, std::string> names{{MPI_COMM_WORLD, "world"}, {MPI_COMM_SELF, "self"}};
  std::map<MPI_File, std::string> files;
  std::map<std::string, int> children;
  std::map<std::string, std::vector<std::string>> calls;
  long open_at_end_of_hdf5 = 0;
};

Watched& watched() {
  static Watched* const instance = new Watched;  // outlives whatever still calls
  return *instance;
}

std::string size_text(long long count, MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return " " + std::to_string(count) + " of " + std::to_string(bytes) + " bytes";
}

void note(MPI_Comm comm, const std::string& call) {
  const std::lock_guard lock(watched().mutex);
  watched().calls[watched().names[comm]].push_back(call);
}

void note(MPI_File file, const std::string& call) {
  const std::lock_guard lock(watched().mutex);
  watched().calls[watched().files[file]].push_back(call);
}

void name_child(MPI_Comm parent, MPI_Comm child) {
  const std::lock_guard lock(watched().mutex);
  const std::string name = watched().names[parent];
  if (child == MPI_COMM_NULL) return;
  watched().names[child] = name + "." + std::to_string(watched().children[name]++);
}

long open_hdf5_objects() {
  return static_cast<long>(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL));
}

void write_report() {
  const char* const directory = std::getenv("WATCHED_DIRECTORY");
  if (directory == nullptr) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ofstream out(std::string(directory) + "/rank_" + std::to_string(rank) + ".txt");
  out << "open when HDF5 ended: " << watched().open_at_end_of_hdf5 << "\n"
      << "open when MPI ended: " << open_hdf5_objects() << "\n";
  for (const auto& [name, calls] : watched().calls) {
    if (name == "self") continue;
    for (const std::string& call : calls) out << name << ": " << call << "\n";
  }
}

}  // namespace

// clang-format off
extern "C" {

herr_t H5close() {
  watched().open_at_end_of_hdf5 += open_hdf5_objects();
  using Close = herr_t (*)();
  return reinterpret_cast<Close>(dlsym(RTLD_NEXT, "H5close"))();
}

int MPI_Finalize() {
  write_report();
  return PMPI_Finalize();
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  note(comm, "Comm_dup");
  const int code = PMPI_Comm_dup(comm, copy);
  name_child(comm, *copy);
  return code;
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  note(comm, "Comm_split_type");
  const int code = PMPI_Comm_split_type(comm, type, key, info, part);
  name_child(comm, *part);
  return code;
}
int MPI_Comm_free(MPI_Comm* comm) {
  note(*comm, "Comm_free");
  {
    const std::lock_guard lock(watched().mutex);
    watched().names.erase(*comm);
  }
  return PMPI_Comm_free(comm);
}
int MPI_Barrier(MPI_Comm comm) {
  note(comm, "Barrier");
  return PMPI_Barrier(comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  note(comm, "Bcast from " + std::to_string(root) + size_text(count, type));
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* r) {
  note(comm, "Ibcast from " + std::to_string(root) + size_text(count, type));
  return PMPI_Ibcast(data, count, type, root, comm, r);
}
int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  note(comm, "Reduce to " + std::to_string(root) + size_text(count, type));
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}
int MPI_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request* r) {
  note(comm, "Ireduce to " + std::to_string(root) + size_text(count, type));
  return PMPI_Ireduce(send, receive, count, type, op, root, comm, r);
}
int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  note(comm, "Allreduce" + size_text(count, type));
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}
int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* r) {
  note(comm, "Iallreduce" + size_text(count, type));
  return PMPI_Iallreduce(send, receive, count, type, op, comm, r);
}
int MPI_Allgather(const void* send, int count, MPI_Datatype type, void* receive, int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  note(comm, "Allgather" + size_text(count, type));
  return PMPI_Allgather(send, count, type, receive, receive_count, receive_type, comm);
}
int MPI_Iallgather(const void* send, int count, MPI_Datatype type, void* receive, int receive_count, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* r) {
  note(comm, "Iallgather" + size_text(count, type));
  return PMPI_Iallgather(send, count, type, receive, receive_count, receive_type, comm, r);
}
int MPI_Ireduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* r) {
  note(comm, "Ireduce_scatter_block" + size_text(count, type));
  return PMPI_Ireduce_scatter_block(send, receive, count, type, op, comm, r);
}

// Of files, ranks write unequal parts: only the calls must be the same.
int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  note(comm, "File_open");
  const int code = PMPI_File_open(comm, name, mode, info, file);
  const std::lock_guard lock(watched().mutex);
  watched().files[*file] = watched().names[comm];
  return code;
}
int MPI_File_close(MPI_File* file) {
  note(*file, "File_close");
  return PMPI_File_close(file);
}
int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  note(file, "File_set_size " + std::to_string(size));
  return PMPI_File_set_size(file, size);
}
int MPI_File_set_view(MPI_File file, MPI_Offset offset, MPI_Datatype type, MPI_Datatype file_type, const char* representation, MPI_Info info) {
  note(file, "File_set_view");
  return PMPI_File_set_view(file, offset, type, file_type, representation, info);
}
int MPI_File_sync(MPI_File file) {
  note(file, "File_sync");
  return PMPI_File_sync(file);
}
int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
  note(file, "File_write_at_all");
  return PMPI_File_write_at_all(file, offset, data, count, type, status);
}
int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type, MPI_Status* status) {
  note(file, "File_read_at_all");
  return PMPI_File_read_at_all(file, offset, data, count, type, status);
}

}  // extern "C"
// clang-format on
