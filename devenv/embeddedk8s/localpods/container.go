// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// A container that ends is started again after a pause that doubles each time. A kubelet's is 10 seconds to 5 minutes;
// whoever sits in front of this cluster waits for the next try.
const (
	firstBackOff = time.Second
	lastBackOff  = 30 * time.Second
	// A run that was longer than that begins with the first pause again.
	backOffReset = 2 * lastBackOff
)

// Reasons that a kubelet and its container runtime give.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
	reasonCompleted    = "Completed"
	reasonError        = "Error"
	reasonOutOfMemory  = "OOMKilled"
	reasonStartError   = "StartError"
	reasonCrashLoop    = "CrashLoopBackOff"
	reasonConfigError  = "CreateContainerConfigError"
	reasonRefused      = "CreateContainerError"
	reasonLost         = "ContainerStatusUnknown"
)

// startErrorCode is the exit code of a container whose program could not be started.
const startErrorCode = 128

// container is one container of a pod. It belongs to the pod's goroutine.
type container struct {
	pod  *pod
	spec *corev1.Container
	init bool

	run      *run
	created  bool // ever
	port     int  // the one in PORT; 0: none
	restarts int32
	waiting  corev1.ContainerStateWaiting
	finished *corev1.ContainerStateTerminated // it is not started again
	last     *corev1.ContainerStateTerminated // the run before
	backOff  time.Duration
	startAt  time.Time
}

// run is one run of a container.
type run struct {
	process *containers.Process
	log     *containers.Log
	program programs.Program
	env     []string
	dir     string
	// stdinOnce is set when the first client that attaches ends the standard input.
	stdinOnce bool

	started, ready bool
	startup        *probe
	liveness       *probe
	readiness      *probe
	listening      *listening // nil: nothing to check
	listens        bool       // listening has passed
	hook           *hook      // postStart
	stop           *stop
	// problem is why the container is stopped, if it is not the pod's end.
	problem string
}

func newContainer(p *pod, spec *corev1.Container, init bool, statuses []corev1.ContainerStatus) *container {
	c := &container{pod: p, spec: spec, init: init}
	if c.waiting.Reason = reasonCreating; !init && len(p.now.Spec.InitContainers) > 0 {
		c.waiting.Reason = reasonInitializing
	}
	for i := range statuses {
		if statuses[i].Name != spec.Name {
			continue
		}
		status := statuses[i]
		c.restarts, c.created = status.RestartCount, status.ContainerID != ""
		c.last = status.LastTerminationState.Terminated
		switch {
		case status.State.Terminated != nil:
			c.last = status.State.Terminated
		case status.State.Running != nil:
			c.last = &corev1.ContainerStateTerminated{
				ExitCode: 137, Reason: reasonLost, Message: "the cluster was stopped while the container ran",
				StartedAt: status.State.Running.StartedAt, FinishedAt: stamp(time.Now()),
				ContainerID: status.ContainerID,
			}
		}
	}
	return c
}

// carryOn takes up the state in which a restart of the cluster has found the container.
func (c *container) carryOn(of *corev1.Pod) {
	if c.last != nil && c.created && !c.init && !c.restartsAfter(of, c.last.ExitCode) {
		c.finished = c.last
	}
}

func (c *container) sidecar() bool {
	return c.init && c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// restartsAfter reports whether the container is started again after an exit code.
func (c *container) restartsAfter(of *corev1.Pod, code int32) bool {
	policy := of.Spec.RestartPolicy
	if c.spec.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.spec.RestartPolicy)
	}
	switch {
	case policy == corev1.RestartPolicyNever:
		return false
	case policy == corev1.RestartPolicyOnFailure, c.init && !c.sidecar():
		return code != 0
	}
	return true
}

// failedForGood reports whether an init container has failed and is not started again.
func (c *container) failedForGood() bool { return c.finished != nil && c.finished.ExitCode != 0 }

// passed reports whether an init container lets the next one start.
func (c *container) passed() bool {
	if c.sidecar() {
		return c.run != nil && c.run.started
	}
	return c.finished != nil
}

// keep makes the container run, unless it has to wait or has finished.
func (c *container) keep(now time.Time) {
	switch {
	case c.run != nil:
		c.watch(now)
	case c.finished != nil:
	case now.Before(c.startAt):
		c.pod.again(c.startAt)
	default:
		c.start(now)
	}
}

// collect takes note of the end of the process.
func (c *container) collect(now time.Time) {
	if c.run == nil {
		return
	}
	exit, ended := c.run.process.Exit()
	if !ended {
		return
	}
	ran := c.run
	c.run = nil
	c.pod.places.end(c.spec.Name)
	ran.endProbes()
	state := &corev1.ContainerStateTerminated{
		ExitCode: int32(exit.Code), Reason: reasonCompleted, StartedAt: stamp(ran.process.StartedAt),
		FinishedAt: stamp(exit.At), ContainerID: c.id(),
	}
	if exit.Code != 0 {
		state.Reason, state.Message = reasonError, ran.log.Message()
	}
	if exit.OutOfMemory {
		state.Reason = reasonOutOfMemory
	}
	if ran.problem != "" {
		state.Message = ran.problem + "\n" + state.Message
	}
	c.ended(state, now)
}

// ended decides what comes after a run.
func (c *container) ended(state *corev1.ContainerStateTerminated, now time.Time) {
	ending := c.pod.ending != nil || c.pod.now.DeletionTimestamp != nil
	if ending || !c.restartsAfter(c.pod.now, state.ExitCode) {
		c.finished = state
		return
	}
	c.last = state
	if state.FinishedAt.Sub(state.StartedAt.Time) > backOffReset {
		c.backOff = 0
	}
	c.backOff = min(max(2*c.backOff, firstBackOff), lastBackOff)
	c.startAt = now.Add(c.backOff)
	c.waiting = corev1.ContainerStateWaiting{Reason: reasonCrashLoop, Message: fmt.Sprintf(
		"back-off %s (from %s to %s on this cluster) restarting failed container=%s pod=%s_%s(%s)",
		c.backOff, firstBackOff, lastBackOff, c.spec.Name, c.pod.now.Name, c.pod.now.Namespace, c.pod.uid)}
	c.pod.event(corev1.EventTypeWarning, "BackOff", fmt.Sprintf(
		"Back-off %s restarting failed container %s in pod %s: exit code %d",
		c.backOff, c.spec.Name, c.pod.now.Name, state.ExitCode))
	c.pod.again(c.startAt)
}

// id names the current run, or the next one.
func (c *container) id() string {
	return fmt.Sprintf("process://%s/%s/%d", c.pod.uid, c.spec.Name, c.restarts)
}

// markOf is by which the processes of the current run are found, or those of the next one.
func markOf(c *container) string { return c.pod.manager.token + "/" + c.id() }

// release gives the port back.
func (c *container) release() {
	if c.port != 0 {
		c.pod.manager.ports.Release(c.port)
		c.port = 0
	}
}

// stamp is a time as the API keeps it: in whole seconds.
func stamp(at time.Time) metav1.Time { return metav1.NewTime(at.Truncate(time.Second)) }

func (c *container) describe() corev1.ContainerStatus {
	status := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, RestartCount: c.restarts,
		LastTerminationState: corev1.ContainerState{Terminated: c.last},
	}
	if c.created {
		status.ContainerID, status.ImageID = c.id(), "process://"+c.spec.Image
	}
	started := false
	switch {
	case c.run != nil:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: stamp(c.run.process.StartedAt)}
		started = c.run.started
		status.Ready = c.run.ready && c.pod.ending == nil
	case c.finished != nil:
		finished := *c.finished
		status.State.Terminated = &finished
		status.Ready = c.init && finished.ExitCode == 0
		if c.last == c.finished {
			status.LastTerminationState.Terminated = nil
		}
	default:
		waiting := c.waiting
		status.State.Waiting = &waiting
	}
	status.Started = &started
	return status
}
