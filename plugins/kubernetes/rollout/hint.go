// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// hintAfter is how long pods may be on their way before the API's events are asked what holds them; then they are
	// left alone for twice as long each time, up to hintPause.
	hintAfter = 2 * time.Second
	hintPause = 15 * time.Second
	// eventAge is how old an event may have been at the beginning, by a clock that may differ a little: those of an
	// earlier rollout stay for an hour.
	eventAge = time.Minute
	// maxPods bounds the pods that are looked at, maxHints those that are asked about, maxEvents the events of one.
	maxPods   = 50
	maxHints  = 3
	maxEvents = 50
)

// asides are the reasons of warnings of an embedded Kubernetes that hold no pod.
var asides = []string{"FieldsIgnored", "LimitNotEnforced", "VariableReplaced"}

var eventResource = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// stuck are the objects that only events explain, each with what is said of it: a workload whose pods are not made, and
// pods of which containers are not begun (a volume's secret that is missing, for one) or are not ready (the answer of a
// probe), without a word in their status.
func (t *tracker) stuck() (found []stuckObject) {
	live := t.workload.Live
	if live.GetKind() != "Pod" && isObserved(live) && wantsMorePods(live) {
		found = append(found, stuckObject{live, "its pods are not made"})
	}
	for _, u := range t.pods {
		var pod corev1.Pod
		if len(found) == maxPods || fromUnstructured(u.Object, &pod) != nil || pod.DeletionTimestamp != nil {
			continue
		}
		all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
		switch {
		case slices.ContainsFunc(all, isCreating):
			found = append(found, stuckObject{u, "pod " + u.GetName() + " does not start"})
		case slices.ContainsFunc(all, isUnready):
			found = append(found, stuckObject{u, "pod " + u.GetName() + " is not ready"})
		}
	}
	return found
}

// stuckObject is an object whose events are asked, and what is the matter with it.
type stuckObject struct {
	*unstructured.Unstructured
	what string
}

// ofNewRevision leaves out the pods of older templates: they may be on their way out.
func (t *tracker) ofNewRevision(ctx context.Context, stuck []stuckObject) []stuckObject {
	revision, err := t.newRevision(ctx)
	return slices.DeleteFunc(stuck, func(o stuckObject) bool {
		return o.GetKind() == "Pod" && (err != nil || !revision.owns(o.Unstructured))
	})
}

func isUnready(s corev1.ContainerStatus) bool { return s.State.Running != nil && !s.Ready }

func isCreating(s corev1.ContainerStatus) bool {
	return s.State.Waiting != nil && s.State.Waiting.Reason == "ContainerCreating"
}

// wantsMorePods reports whether a workload has fewer pods than it is to have.
func wantsMorePods(live *unstructured.Unstructured) bool {
	if !IsWaited(live) {
		return false
	}
	switch live.GetKind() {
	case "DaemonSet":
		return number(live, 0, "status", "currentNumberScheduled") < number(live, 0, "status", "desiredNumberScheduled")
	case kindJob:
		return number(live, 0, "status", "active") == 0 && number(live, 0, "status", "succeeded") == 0
	}
	return number(live, 0, "status", "replicas") < number(live, 1, "spec", "replicas")
}

// lookForHints asks the events of what is stuck. It reports when to ask again; never when nothing is stuck.
func (t *tracker) lookForHints(ctx context.Context, now time.Time) {
	stuck := t.stuck()
	switch {
	case len(stuck) == 0:
		t.hints, t.hintAt = nil, time.Time{}
		return
	case t.hintAt.IsZero():
		t.hintGap = hintAfter
		t.hintAt = now.Add(t.hintGap)
		return
	case now.Before(t.hintAt):
		return
	}
	t.hintGap = min(2*t.hintGap, hintPause)
	t.hints, t.hintAt = nil, now.Add(t.hintGap)
	for i, o := range t.ofNewRevision(ctx, stuck) {
		if i == maxHints {
			break
		}
		text := t.newestWarning(ctx, o.Unstructured)
		if text == "" {
			continue
		}
		h := problem{class: classHint, pod: o.GetName(), text: o.what + ": " + text}
		t.hints = append(t.hints, h)
		t.say(h)
	}
}

// newestWarning is the text of the newest warning about an object; empty without one.
func (t *tracker) newestWarning(ctx context.Context, o *unstructured.Unstructured) string {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	list, err := t.cluster.Resource(eventResource, o.GetNamespace()).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.uid": string(o.GetUID()), "type": corev1.EventTypeWarning}.String(),
		Limit:         maxEvents,
	})
	if err != nil {
		return "" // a hint that cannot be had
	}
	var newest corev1.Event
	for _, u := range list.Items {
		var event corev1.Event
		if fromUnstructured(u.Object, &event) == nil && !slices.Contains(asides, event.Reason) &&
			happened(event).After(happened(newest)) {
			newest = event
		}
	}
	if happened(newest).Before(t.begun.Add(-eventAge)) {
		return ""
	}
	return fmt.Sprintf("%s (%s)", plain(newest.Message), newest.Reason)
}

// frame is what the protocol between a node and its container runtime puts before the runtime's words.
var frame = regexp.MustCompile(`rpc error: code = \w+ desc = `)

// plain returns a message of a node without such frames.
func plain(message string) string { return strings.TrimSpace(frame.ReplaceAllString(message, "")) }

// happened is when an event was seen last.
func happened(e corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	for _, at := range []time.Time{e.EventTime.Time, e.FirstTimestamp.Time} {
		last = slices.MaxFunc([]time.Time{last, at}, func(a,
			b time.Time) int {
			return cmp.Compare(a.UnixNano(), b.UnixNano())
		})
	}
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	return last
}
