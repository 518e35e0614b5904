// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

const (
	// minCrashes is how often a container must have crashed before a stage gives up: many programs crash once or twice
	// until what they depend on is there.
	minCrashes = 2
	// logLines and logTimeout bound what is fetched of a crashed container's output.
	logLines   = "10"
	logTimeout = 3 * time.Second
)

// conditionListening is false on a pod of an embedded Kubernetes that does not listen on a port that it declares.
const conditionListening corev1.PodConditionType = "pipedeck.dev/Listening"

type class int

const (
	// classImage: the container's image cannot be used.
	classImage class = iota
	// classCrash: the container ends again and again.
	classCrash
	// classConfig: what the container refers to is missing.
	classConfig
	// classSchedule: no node takes the pod. It never ends a rollout early, since a node may be on its way.
	classSchedule
	// classCreate: the API does not take the pod.
	classCreate
	// classHint: what an event says. It never ends a rollout early.
	classHint
	// classHealth: what a rule says of the workload itself.
	classHealth
)

// problem is what keeps a pod from being ready.
type problem struct {
	class     class
	pod       string
	namespace string
	container string
	text      string
	since     time.Time
	// final: waiting cannot help.
	final bool
	// ripe: may end the rollout once it has lasted for the grace period.
	ripe bool
	// crashes counts the restarts after a crash; output is the end of what the container wrote
	// before one of them.
	crashes int32
	output  string
}

func (p problem) id() string { return fmt.Sprintf("%d/%s/%s", p.class, p.pod, p.container) }

// inspect takes the problems of the pods as they are now; one that was there before keeps its age.
func (t *tracker) inspect(ctx context.Context) {
	old := map[string]problem{}
	for _, p := range t.problems {
		old[p.id()] = p
	}
	t.problems = nil
	found := failedCreation(t.workload.Live)
	for _, u := range t.pods {
		var pod corev1.Pod
		if err := fromUnstructured(u.Object, &pod); err != nil || pod.DeletionTimestamp != nil {
			continue
		}
		found = append(found, problemsOf(&pod, old)...)
	}
	if len(found) == 0 {
		return
	}
	revision, err := t.newRevision(ctx)
	if err != nil {
		t.log.Infof("%s: cannot distinguish its new pods from old ones: %v", t.name(), err)
		return
	}
	byName := map[string]*unstructured.Unstructured{}
	for _, u := range t.pods {
		byName[u.GetName()] = u
	}
	now := time.Now()
	for _, p := range found {
		if p.class == classCreate {
			if p.text = revision.failure; p.text == "" {
				continue // of an older revision
			}
			p.ripe = !strings.Contains(p.text, quotaWords)
		} else if !revision.owns(byName[p.pod]) {
			var held bool
			if p, held = t.holdsUp(t.workload.Live, byName[p.pod], p); !held || revision.none {
				continue
			}
		}
		p.since = now
		before, known := old[p.id()]
		if known {
			p.since, p.output = before.since, before.output
		}
		// A node forgets a container soon after it has ended, so its words are taken while they are there.
		if p.class == classCrash && (!known || p.crashes != before.crashes || p.output == "") {
			p.output = cmp.Or(t.lastOutput(ctx, p), p.output)
		}
		if p.class == classCrash {
			t.lastCrash = p
		}
		t.problems = append(t.problems, p)
		t.say(p)
	}
}

// problemsOf returns what is wrong with a pod. old holds the problems known before: a crash counts until the container
// is ready, also while it runs between two crashes.
func problemsOf(pod *corev1.Pod, old map[string]problem) []problem {
	var problems []problem
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			c.Reason == corev1.PodReasonUnschedulable {
			problems = append(problems, problem{
				class: classSchedule, pod: pod.Name, namespace: pod.Namespace,
				text: fmt.Sprintf("pod %s cannot be scheduled: %s", pod.Name, c.Message),
			})
		}
		if c.Type == conditionListening && c.Status == corev1.ConditionFalse {
			problems = append(problems, problem{
				class: classHint, pod: pod.Name, namespace: pod.Namespace, container: string(c.Type),
				text: fmt.Sprintf("pod %s is not reached: %s", pod.Name, c.Message),
			})
		}
	}
	for _, s := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...),
		pod.Status.ContainerStatuses...) {
		if p, ok := containerProblem(pod, s); ok {
			problems = append(problems, p)
			continue
		}
		p := problem{class: classCrash, pod: pod.Name, container: s.Name}
		if before, known := old[p.id()]; known && !s.Ready && s.State.Running != nil {
			before.ripe = false
			problems = append(problems, before)
		}
	}
	return problems
}

func containerProblem(pod *corev1.Pod, s corev1.ContainerStatus) (problem, bool) {
	p := problem{pod: pod.Name, namespace: pod.Namespace, container: s.Name, ripe: true}
	if w := s.State.Waiting; w != nil {
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ErrImageNeverPull", "ImageInspectError":
			p.class = classImage
			p.text = fmt.Sprintf("pod %s: the image %s cannot be pulled (%s)%s", pod.Name, s.Image, w.Reason,
				detail(w.Message))
			return p, true
		case "InvalidImageName":
			p.class, p.final = classImage, true
			p.text = fmt.Sprintf("pod %s: %q is not a valid image name%s", pod.Name, s.Image, detail(w.Message))
			return p, true
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			p.class = classConfig
			p.text = fmt.Sprintf("pod %s: container %s cannot be created (%s)%s", pod.Name, s.Name, w.Reason,
				detail(w.Message))
			return p, true
		case "CrashLoopBackOff":
			return crash(p, pod, s, s.LastTerminationState.Terminated), true
		}
	}
	if end := s.State.Terminated; end != nil && end.ExitCode != 0 &&
		(pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || isOfJob(pod) || pod.Status.Phase == corev1.PodFailed) {
		return crash(p, pod, s, end), true
	}
	return problem{}, false
}

func crash(p problem, pod *corev1.Pod, s corev1.ContainerStatus, end *corev1.ContainerStateTerminated) problem {
	p.class = classCrash
	p.crashes = s.RestartCount
	p.ripe = s.RestartCount >= minCrashes && !isOfJob(pod)
	how := ""
	if end != nil {
		how = fmt.Sprintf(", last exit code %d", end.ExitCode)
		if end.Reason != "" && end.Reason != "Error" {
			how += " (" + end.Reason + ")"
		}
		how += detail(cluster.LastLine(end.Message))
	}
	switch s.RestartCount {
	case 0:
		p.text = fmt.Sprintf("pod %s: container %s crashed%s", pod.Name, s.Name, how)
	case 1:
		p.text = fmt.Sprintf("pod %s: container %s keeps crashing: 1 restart%s", pod.Name, s.Name, how)
	default:
		p.text = fmt.Sprintf("pod %s: container %s keeps crashing: %d restarts%s", pod.Name, s.Name, s.RestartCount,
			how)
	}
	return p
}

func detail(message string) string {
	if message == "" {
		return ""
	}
	return ": " + plain(message)
}

// judge fails the rollout when a problem lasts for too long.
func (t *tracker) judge(now time.Time) error {
	for _, p := range t.all() {
		if !p.final && (!p.ripe || now.Before(p.since.Add(t.grace))) {
			continue
		}
		return &FailedError{Key: t.key(), Reason: p.withOutput()}
	}
	return nil
}

// all are the problems of the workload itself and of its pods.
func (t *tracker) all() []problem {
	if t.verdict == nil {
		return t.problems
	}
	return append([]problem{*t.verdict}, t.problems...)
}

// nextDeadline is when the next problem will have lasted for too long; zero is never.
func (t *tracker) nextDeadline() time.Time {
	var next time.Time
	for _, p := range t.all() {
		if end := p.since.Add(t.grace); p.ripe && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}

// noOutput are beginnings of answers with the status of success that are a kubelet's own words: it has removed the
// container or its log, or no container runs, as in the embedded cluster.
var noOutput = []string{"unable to retrieve container logs", "failed to try resolving symlinks in path",
	"This pod is simulated: "}

// lastOutput returns the end of what a crashed container wrote, where the API still has it.
func (t *tracker) lastOutput(ctx context.Context, p problem) string {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	path := "/api/v1/namespaces/" + p.namespace + "/pods/" + p.pod + "/log"
	for _, previous := range []string{"true", "false"} {
		query := url.Values{"container": {p.container}, "tailLines": {logLines}, "previous": {previous}}
		code, body, err := t.cluster.Get(ctx, path, query)
		said := func(words string) bool { return strings.HasPrefix(body, words) }
		if err == nil && code == http.StatusOK && strings.TrimSpace(body) != "" &&
			!slices.ContainsFunc(noOutput, said) {
			return strings.TrimRight(body, "\n")
		}
	}
	return ""
}
