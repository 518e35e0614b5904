// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// PodResource are pods in the API.
var PodResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// tracker follows one workload to its end.
type tracker struct {
	cluster  Cluster
	workload Workload
	grace    time.Duration
	rules    *health.Rules
	log      Log
	// output is nil but for a hook.
	output *output

	pods     []*unstructured.Unstructured
	blind    bool      // its pods cannot be watched
	problems []problem // what is wrong with the pods of the new revision
	verdict  *problem  // what a rule says is wrong with the workload itself
	// lastCrash is the newest crash, also when its pod is gone.
	lastCrash problem
	hinting

	begun   time.Time
	watched bool      // it was not ready at first
	readyAt time.Time // since when it is ready; zero while it is not
	reported
	discarding
}

// reported is what was logged.
type reported struct {
	progress string          // how far the workload is
	unlogged bool            // it has not been logged yet
	logged   time.Time       // when progress was logged last
	said     map[string]bool // the problems that were logged
}

// hinting is what events say of pods that do not come.
type hinting struct {
	hints   []problem
	hintAt  time.Time // when to ask for hints; zero is never
	hintGap time.Duration
}

func (t *tracker) key() manifest.Key { return manifest.KeyOf(t.workload.Live) }

func (t *tracker) name() string { return t.workload.Live.GetKind() + " " + t.workload.Live.GetName() }

// wait returns nil when the workload is ready.
func (t *tracker) wait(ctx context.Context) error {
	if done, err := t.look(ctx, t.workload.Live); done || err != nil {
		return err
	}
	t.watched = true
	ctx, cancel := context.WithCancel(ctx)
	objects := follow(ctx, t.workload.Resource, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", t.workload.Live.GetName()).String(),
	})
	pods := t.followPods(ctx)
	defer func() {
		cancel()
		objects.wait()
		pods.wait()
	}()
	alarm := newAlarm()
	defer alarm.stop()
	for {
		select {
		case <-ctx.Done():
			return t.interrupted(ctx)
		case found, open := <-objects.states:
			if !open {
				return t.unwatched(ctx, objects.end)
			}
			if done, err := t.changed(ctx, found); done || err != nil {
				return err
			}
		case found, open := <-pods.states:
			if !open {
				t.podsUnwatched(ctx, pods.end)
				pods.states = nil
				continue
			}
			t.pods = found
			t.output.see(found)
			t.inspect(ctx)
		case <-alarm.rings():
		}
		if done, err := t.review(ctx); done || err != nil {
			return err
		}
		alarm.set(t.wake())
	}
}

// changed takes the workload as it is now: nothing when it is gone.
func (t *tracker) changed(ctx context.Context, found []*unstructured.Unstructured) (done bool, err error) {
	if len(found) == 0 {
		if removesItself(t.workload.Live) {
			t.log.Infof("%s: is gone, as its ttlSecondsAfterFinished says", t.name())
			return true, nil
		}
		return false, &FailedError{Key: t.key(), Reason: "was deleted while it was waited for"}
	}
	t.workload.Live = found[0]
	if done, err := t.look(ctx, found[0]); done || err != nil {
		return done, err
	}
	t.inspect(ctx) // which pods are new may have changed
	return false, nil
}

// unwatched is the error of a workload that cannot be watched any more.
func (t *tracker) unwatched(ctx context.Context, end error) error {
	if ctx.Err() != nil {
		return t.interrupted(ctx)
	}
	return fmt.Errorf("watch %s: %w", t.key().Human(), end)
}

// podsUnwatched reports that the pods cannot be watched any more; the workload itself still is.
func (t *tracker) podsUnwatched(ctx context.Context, end error) {
	t.blind = true
	if ctx.Err() == nil {
		t.log.Infof("%s: its pods cannot be watched, so a failure is seen only at the end: %v", t.name(), end)
	}
}

// review judges the workload and its pods by what is known now, after a change or at the time that wake gave.
func (t *tracker) review(ctx context.Context) (done bool, err error) {
	now := time.Now()
	_, shared := shareOf(t.workload.Live)
	if shared || !t.readyAt.IsZero() { // its pods may say more, or it has been ready for long enough
		if done, err := t.look(ctx, t.workload.Live); done || err != nil {
			return done, err
		}
	}
	t.discardHolding(ctx)
	t.lookForHints(ctx, now)
	if err := t.judge(now); err != nil {
		return false, err
	}
	t.flush(now)
	return false, nil
}

// followPods follows the pods of the workload; no state comes when it has none.
func (t *tracker) followPods(ctx context.Context) *following {
	live := t.workload.Live
	pods := t.cluster.Resource(PodResource, live.GetNamespace())
	if live.GetKind() == "Pod" {
		return follow(ctx, pods, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", live.GetName()).String(),
		})
	}
	opts, ok := listOptions(live)
	if !ok {
		return &following{}
	}
	return follow(ctx, pods, opts)
}

// look judges the workload itself and says how far it is.
func (t *tracker) look(ctx context.Context, live *unstructured.Unstructured) (done bool, err error) {
	if done, judged := t.lookByRule(ctx, live); judged {
		return done, nil
	}
	if t.isPaused(live) {
		return true, nil
	}
	if isSuspended(live) {
		if t.workload.Hook {
			return false, &FailedError{Key: t.key(), Reason: "is a hook that is suspended (spec.suspend), so " +
				"it does not run and nothing after it may begin\n" +
				"next step: remove spec.suspend, or the annotation of the hook"}
		}
		t.log.Infof("%s is suspended (spec.suspend): not waited for", t.name())
		return true, nil
	}
	result, err := compute(live)
	if err != nil {
		return false, fmt.Errorf("read the status of %s: %w", t.key().Human(), err)
	}
	line := describe(live, result)
	if s, ok := shareOf(live); ok {
		return t.lookAtShare(ctx, live, s, line), nil
	}
	switch {
	case live.GetKind() == kindJob:
		result.Status, line = jobStatus(live, result), describeJob(live)
	case t.workload.Hook && podRuns(live):
		result.Status, line = status.InProgressStatus, "runs"
	}
	if result.Status != status.CurrentStatus {
		t.readyAt = time.Time{}
	}
	switch result.Status {
	case status.CurrentStatus:
		if podFailed(live) {
			return false, &FailedError{Key: t.key(), Reason: t.withLastOutput(ctx, "the pod ended with a failure")}
		}
		if t.watched && !t.settled(live, line, time.Now()) {
			return false, nil
		}
		t.log.Successf("%s: %s", t.name(), line)
		return true, nil
	case status.FailedStatus:
		switch live.GetKind() {
		case "Pod": // judged as every other pod, with its grace
			t.note(line)
			return false, nil
		case kindJob:
			return false, &FailedError{Key: t.key(), Reason: t.jobFailed(ctx)}
		}
		return false, &FailedError{Key: t.key(), Reason: t.withProblems(failure(result))}
	case status.TerminatingStatus:
		line = "is being deleted"
	}
	if !isObserved(live) && result.Status == status.InProgressStatus {
		t.progress = "the controller has not seen the change yet"
		return false, nil
	}
	t.note(line)
	return false, nil
}

// isPaused reports whether no pod is to be replaced now, and logs how that goes on.
func (t *tracker) isPaused(live *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(live.Object, "spec", "paused")
	if paused {
		t.log.Infof("%s is paused (spec.paused): not waited for, because no pod is replaced until it is resumed\n"+
			"next step: remove spec.paused from Git, or run: kubectl rollout resume deployment/%s -n %s", t.name(),
			live.GetName(), live.GetNamespace())
	}
	return paused
}
