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

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// tracker follows one workload to its end.
type tracker struct {
	cluster  Cluster
	workload Workload
	grace    time.Duration
	log      Log

	pods     []*unstructured.Unstructured
	problems []problem // what is wrong with the pods of the new revision
	// lastCrash is the newest crash, also when its pod is gone.
	lastCrash problem
	hints     []problem // what events say of pods that do not come
	hintAt    time.Time // when to ask for hints; zero is never
	hintGap   time.Duration

	begun    time.Time
	watched  bool            // it was not ready at first
	readyAt  time.Time       // since when it is ready; zero while it is not
	progress string          // how far the workload is
	untold   bool            // it has not been logged yet
	told     time.Time       // when progress was logged last
	said     map[string]bool // the problems that were logged
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
	objects, objectsEnd := t.follow(ctx, t.workload.Resource, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", t.workload.Live.GetName()).String(),
	})
	pods, podsEnd := t.followPods(ctx)
	// the followers end with their context; wait for them
	defer func(objects, pods <-chan []*unstructured.Unstructured) {
		cancel()
		drain(objects)
		drain(pods)
	}(objects, pods)
	var timer *time.Timer
	var expired <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return t.interrupted(ctx)
		case found, open := <-objects:
			if !open {
				if ctx.Err() != nil {
					return t.interrupted(ctx)
				}
				return fmt.Errorf("watch %s: %w", t.key().Human(), *objectsEnd)
			}
			if len(found) == 0 && removesItself(t.workload.Live) {
				t.log.Infof("%s: is gone, as its ttlSecondsAfterFinished says", t.name())
				return nil
			}
			if len(found) == 0 {
				return &FailedError{Key: t.key(), Reason: "was deleted while it was waited for"}
			}
			t.workload.Live = found[0]
			if done, err := t.look(ctx, found[0]); done || err != nil {
				return err
			}
			t.inspect(ctx) // which pods are new may have changed
		case found, open := <-pods:
			if !open {
				if ctx.Err() == nil {
					t.log.Infof("%s: its pods cannot be watched, so a failure is seen only at the end: %v", t.name(),
						*podsEnd)
				}
				pods = nil
				continue
			}
			t.pods = found
			t.inspect(ctx)
		case <-expired:
		}
		now := time.Now()
		if !t.readyAt.IsZero() { // its pods may say more, or it has been ready for long enough
			if done, err := t.look(ctx, t.workload.Live); done || err != nil {
				return err
			}
		}
		t.lookForHints(ctx, now)
		if err := t.judge(now); err != nil {
			return err
		}
		t.tell(now)
		if timer != nil {
			timer.Stop()
		}
		expired = nil
		if next := t.wake(); !next.IsZero() {
			timer = time.NewTimer(time.Until(next))
			expired = timer.C
		}
	}
}

func drain(states <-chan []*unstructured.Unstructured) {
	if states == nil {
		return
	}
	for range states {
	}
}

// follow sends every state of the selected objects until ctx ends. end is set before the channel closes.
func (t *tracker) follow(ctx context.Context, r cluster.Watchable,
	opts metav1.ListOptions) (<-chan []*unstructured.Unstructured, *error) {
	states := make(chan []*unstructured.Unstructured)
	end := new(error)
	go func() {
		defer close(states)
		*end = cluster.Follow(ctx, r, opts, func(objects []*unstructured.Unstructured) (bool, error) {
			select {
			case states <- objects:
				return false, nil
			case <-ctx.Done():
				return true, context.Cause(ctx)
			}
		})
	}()
	return states, end
}

func (t *tracker) followPods(ctx context.Context) (<-chan []*unstructured.Unstructured, *error) {
	live := t.workload.Live
	pods := t.cluster.Resource(podResource, live.GetNamespace())
	if live.GetKind() == "Pod" {
		return t.follow(ctx, pods, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", live.GetName()).String(),
		})
	}
	opts, ok := listOptions(live)
	if !ok {
		return nil, nil
	}
	return t.follow(ctx, pods, opts)
}

// look judges the workload itself and says how far it is.
func (t *tracker) look(ctx context.Context, live *unstructured.Unstructured) (done bool, err error) {
	if paused, _, _ := unstructured.NestedBool(live.Object, "spec", "paused"); paused {
		t.log.Infof("%s is paused (spec.paused): not waited for", t.name())
		return true, nil
	}
	if isSuspended(live) {
		t.log.Infof("%s is suspended (spec.suspend): not waited for", t.name())
		return true, nil
	}
	result, err := compute(live)
	if err != nil {
		return false, fmt.Errorf("read the status of %s: %w", t.key().Human(), err)
	}
	line := describe(live, result)
	if live.GetKind() == kindJob {
		result.Status, line = jobStatus(live, result), describeJob(live)
	}
	if result.Status != status.CurrentStatus {
		t.readyAt = time.Time{}
	}
	switch result.Status {
	case status.CurrentStatus:
		if podFailed(live) {
			return false, &FailedError{Key: t.key(), Reason: "the pod ended with a failure"}
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
