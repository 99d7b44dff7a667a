// Prints what the engine reads from a model's folder: the weights as the files hold them, and the parts of
// config.json that the engine does not compute.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/families/stored_tensors.h"

int main(int, char** arguments) {
    using namespace ringmaster;
    try {
        const ModelConfig model = read_model_config(arguments[1]);
        nlohmann::json weights = nlohmann::json::object();
        for (const auto& shapes : {parameter_shapes(model), buffer_shapes(model)})
            for (const StoredTensor& tensor : stored_tensors(shapes)) weights[tensor.name] = tensor.shape;
        std::puts(nlohmann::json{{"weights", weights}, {"obstacles", model.obstacles}}.dump().c_str());
        return 0;
    } catch (const Error& problem) {
        std::puts(problem.text().c_str());
        return 1;
    }
}
