#include "launcher/base/example.h"

#include "engine/error.h"
#include "launcher/base/child.h"

namespace ringmaster {

namespace fs = std::filesystem;

fs::path make_example(const Places& places, const Progress& progress) {
    const char* const hint = "`ringmaster setup` makes the environment";
    if (!fs::exists(places.python())) {
        throw Error(Failure::Unreachable, Code("SETUP-PYTHON"),
                    "the Python environment is missing that the example is made with",
                    places.python_env.string(), hint);
    }
    const fs::path folder = places.cache_dir / "example";
    progress.report({"example"});
    const fs::path script = places.share_dir / "example" / "make_example.py";
    run_child({places.python().string(),
               {"-B", script.string(), "--to", folder.string()},
               "making the example",
               hint},
              {}, progress);
    return folder / "example.yaml";
}

}  // namespace ringmaster
