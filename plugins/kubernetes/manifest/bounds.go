// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// smallNumbers are the fields of "spec" that hold 32 bits, by kinds. The API refuses a larger number only when the
// object is applied, in words of its decoder, after others have been.
var smallNumbers = map[schema.GroupKind][]string{
	{Group: "apps", Kind: KindDeployment}: {"replicas", "minReadySeconds", "revisionHistoryLimit",
		"progressDeadlineSeconds"},
	{Group: "apps", Kind: KindStatefulSet}:                  {"replicas", "minReadySeconds", "revisionHistoryLimit"},
	{Group: "apps", Kind: KindReplicaSet}:                   {"replicas", "minReadySeconds"},
	{Group: "apps", Kind: KindDaemonSet}:                    {"minReadySeconds", "revisionHistoryLimit"},
	{Kind: "ReplicationController"}:                         {"replicas", "minReadySeconds"},
	{Group: "batch", Kind: "Job"}:                           {"parallelism", "completions", "backoffLimit"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {"minReplicas", "maxReplicas"},
}

// checkNumbers refuses numbers that are too large for their field.
func checkNumbers(manifests []Manifest) error {
	for _, m := range manifests {
		for _, field := range smallNumbers[m.GroupVersionKind().GroupKind()] {
			value, _, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", field)
			written := ""
			switch number := value.(type) {
			case int64:
				if number > math.MaxInt32 {
					written = fmt.Sprint(number)
				}
			case float64:
				if number > math.MaxInt32 {
					written = fmt.Sprintf("%.0f", number)
				}
			}
			if written != "" {
				return fmt.Errorf("%s: spec.%s of %s is %s, which is too large: at most %d", m.Origin.At("spec."+field),
					field, m.Key().Human(), written, math.MaxInt32)
			}
		}
	}
	return nil
}
