// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// holdsUp turns a problem of a pod of the old version into one of the rollout: the controller of a StatefulSet replaces
// its pods in their order and none before all are ready, so that a broken version stays until someone deletes its pods.
// (Kubernetes: forced rollback.) It never ends a rollout early, because the pod may become ready. ok is false where the
// problem is none of the rollout.
func holdsUp(live *unstructured.Unstructured, p problem) (held problem, ok bool) {
	policy, _, _ := unstructured.NestedString(live.Object, "spec", "podManagementPolicy")
	if live.GetKind() != manifest.KindStatefulSet || policy == "Parallel" || p.class == classHint {
		return problem{}, false
	}
	return problem{
		class: classHint, pod: p.pod, namespace: p.namespace, container: "old/" + p.container,
		text: fmt.Sprintf("pod %s of the old version holds the rollout up, because no pod is replaced before it is "+
			"ready (podManagementPolicy: OrderedReady): %s; to have it replaced: kubectl delete pod %[1]s -n %[3]s",
			p.pod, strings.TrimPrefix(p.text, "pod "+p.pod+": "), live.GetNamespace()),
	}, true
}
