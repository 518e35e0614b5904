// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxWatches bounds the workloads that are watched at once; further ones wait for their turn.
const maxWatches = 100

// Log takes the lines that a user reads.
type Log interface {
	Infof(format string, args ...any)
	Successf(format string, args ...any)
}

// Cluster is what waiting needs of a cluster.
type Cluster interface {
	// Resource gives the objects of a kind in a namespace.
	Resource(gvr schema.GroupVersionResource, namespace string) cluster.Watchable
	// Get reads a path of the API as text.
	Get(ctx context.Context, path string, query url.Values) (status int, body string, err error)
	// Stream reads a path of the API while it grows. The caller closes the body.
	Stream(ctx context.Context, path string, query url.Values) (status int, body io.ReadCloser, err error)
}

// Options bound the wait.
type Options struct {
	// Timeout is for all workloads together.
	Timeout time.Duration
	// Grace is how long an image that cannot be pulled, a crash loop or a health that is degraded may last.
	Grace time.Duration
	// Rules judge objects in place of kstatus; nil judges none.
	Rules *health.Rules
	// Discard, unless nil, deletes pods that hold a rollback up.
	Discard *Discard
}

// Discard deletes pods of a failed version.
type Discard struct {
	// Since is when its deployment began, by the clock of the API: older pods stay.
	Since time.Time
	// Delete deletes a pod, unless another one has its name by now.
	Delete func(ctx context.Context, pod *unstructured.Unstructured) error
}

// Workload is one applied object.
type Workload struct {
	Live     *unstructured.Unstructured
	Resource cluster.Watchable
	// Hook is set for what has to come to its end: a Pod, too. What its containers print is written to the log.
	Hook bool
}

// waited are the kinds whose readiness a stage waits for. Others have none, or one that need not come by itself.
var waited = map[schema.GroupKind]bool{
	{Group: "apps", Kind: manifest.KindDeployment}:  true,
	{Group: "apps", Kind: manifest.KindStatefulSet}: true,
	{Group: "apps", Kind: manifest.KindDaemonSet}:   true,
	{Group: "apps", Kind: manifest.KindReplicaSet}:  true,
	{Group: "", Kind: kindReplicationController}:    true,
	{Group: "", Kind: "Pod"}:                        true,
	{Group: "batch", Kind: "Job"}:                   true,
}

// IsWaited reports whether the readiness of an object is waited for.
func IsWaited(o *unstructured.Unstructured) bool { return waited[o.GroupVersionKind().GroupKind()] }

// HasHealth reports whether the next wave waits for an object: for what IsWaited says, and what reports by its status
// that it is not there yet. A volume that is bound by its first user is not waited for, as that may come later.
func HasHealth(o *unstructured.Unstructured) bool {
	if IsWaited(o) {
		return true
	}
	result, err := compute(o)
	return err == nil && result.Status != status.CurrentStatus && o.GetKind() != "PersistentVolumeClaim"
}

// Wait returns when all workloads are ready. As soon as one cannot be, the waiting ends with the errors of all that are
// known to have failed. It writes progress to log.
func Wait(ctx context.Context, c Cluster, workloads []Workload, o Options, log Log) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, &TimeoutError{Timeout: o.Timeout})
	defer cancel()
	var mu sync.Mutex
	failures := &FailuresError{}
	var simulated []string
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxWatches)
	for _, w := range workloads {
		group.Go(func() error {
			t := &tracker{cluster: c, workload: w, grace: o.Grace, rules: o.Rules, log: log, begun: time.Now(),
				reported: reported{said: map[string]bool{}}, discarding: discarding{discard: o.Discard}}
			if w.Hook {
				t.output = newOutput(ctx, c, log)
			}
			err := t.wait(ctx)
			t.endOutput(ctx)
			// The others end with the cause of the first one's failure: that is not a failure of theirs.
			if failed, ok := errors.AsType[*FailedError](err); ok && failed.Key == t.key() {
				mu.Lock()
				failures.Failed = append(failures.Failed, failed)
				mu.Unlock()
			}
			if err == nil && t.isSimulated() {
				mu.Lock()
				simulated = append(simulated, t.key().Human())
				mu.Unlock()
			}
			return err
		})
	}
	err := group.Wait()
	if len(failures.Failed) > 0 {
		return failures
	}
	if err == nil {
		logSimulated(log, simulated)
	}
	return err
}

// FailedError is a workload that cannot become ready.
type FailedError struct {
	Key    manifest.Key
	Reason string
}

func (e *FailedError) Error() string { return fmt.Sprintf("%s: %s", e.Key.Human(), e.Reason) }

// FailuresError are the workloads that are known to have failed.
type FailuresError struct{ Failed []*FailedError }

func (e *FailuresError) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns an error for each workload.
func (e *FailuresError) Unwrap() []error {
	all := make([]error, len(e.Failed))
	for i, one := range e.Failed {
		all[i] = one
	}
	return all
}

// listOptions selects the pods of a workload; ok is false when it has none.
func listOptions(o *unstructured.Unstructured) (metav1.ListOptions, bool) {
	raw, found, err := unstructured.NestedMap(o.Object, "spec", "selector")
	if err != nil || !found || !IsWaited(o) {
		return metav1.ListOptions{}, false
	}
	if o.GetKind() == kindReplicationController {
		return metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(
			&metav1.LabelSelector{MatchLabels: texts(raw)})}, true
	}
	selector := &metav1.LabelSelector{}
	if err := fromUnstructured(raw, selector); err != nil {
		return metav1.ListOptions{}, false
	}
	return metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selector)}, true
}
