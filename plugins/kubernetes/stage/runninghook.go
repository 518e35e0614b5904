// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// isRunningHook reports whether an object is a hook Job of the deployment that goes back, and has not ended: its stage
// was cancelled or has timed out, and it would work on next to what the rollback brings back. Hooks of the rollback
// itself are others.
func isRunningHook(ctx context.Context, req *Request, c *cluster.Client, item inventory.Item) (bool, error) {
	moment, own := strings.CutPrefix(item.Meta.Annotations[manifest.AnnotationHookRun], req.Deployment.ID+"/")
	if !own || strings.HasPrefix(moment, rollbackRun) || moment == string(phase.OnFailure) ||
		item.Key.Kind != "Job" || item.Key.Group != batchv1.GroupName {
		return false, nil
	}
	live, err := c.Dynamic.Resource(item.Resource).Namespace(item.Key.Namespace).Get(ctx, item.Key.Name,
		metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && live.GetUID() != item.Meta.UID:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look whether the hook %s has ended: %w", item.Key.Human(), err)
	}
	return !hasEnded(live), nil
}

// leftTimeout bounds the look at hooks after their stage was stopped: piped waits for its end.
const leftTimeout = 3 * time.Second

// nameRunning names the hooks that go on running in the cluster although their stage was stopped. Only a rollback ends
// them, because the stage may also begin again, and then goes on with them.
func (h *hooks) nameRunning(ctx context.Context, due []manifest.Manifest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftTimeout)
	defer cancel()
	own := slices.DeleteFunc(slices.Clone(due), func(m manifest.Manifest) bool { return !manifest.IsHook(m) })
	items, err := inventory.Lookup(ctx, h.client, h.req.Deployment.Application.ID, own)
	if err != nil {
		h.req.Log.Infof("It is not known whether hooks still run: %v", err)
		return
	}
	for _, item := range items {
		running, err := isRunningHook(ctx, h.req, h.client, item)
		if err != nil {
			h.req.Log.Infof("%v", err)
		}
		if running {
			h.req.Log.Infof("The hook %s still runs. A rollback of this deployment ends it; without one it runs on\n"+
				"next step: to end it yourself: kubectl delete job/%s -n %s", item.Key.Human(), item.Key.Name,
				item.Key.Namespace)
		}
	}
}

func hasEnded(o *unstructured.Unstructured) bool {
	var job batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &job); err != nil {
		return true // what is not understood is left alone
	}
	for _, condition := range job.Status.Conditions {
		ends := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if ends && condition.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
