// kstatus says what GitOps tools and `kubectl apply --wait` of cli-utils make of the state of resources, by that library itself: what the test of the
// three kinds asks (test/integration/chart/kstatus.test.ts). It reads a JSON list of resources from standard input and writes a list of answers.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type answer struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "kstatus: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	var resources []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&resources); err != nil {
		return err
	}
	answers := make([]answer, 0, len(resources))
	for _, raw := range resources {
		// Its own decoder tells whole numbers from others, as the library expects it.
		var resource unstructured.Unstructured
		if err := resource.UnmarshalJSON(raw); err != nil {
			return err
		}
		found, err := status.Compute(&resource)
		if err != nil {
			return err
		}
		answers = append(answers, answer{Status: found.Status.String(), Message: found.Message})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
