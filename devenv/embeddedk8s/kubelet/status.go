// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeAddress is the node's: its kubelet listens there.
const nodeAddress = "127.0.0.1"

// outcome is what a look at a pod comes to.
type outcome struct {
	status corev1.PodStatus
	// again is when to look again without an event; zero: never.
	again   time.Duration
	reports []report
}

// report is an Event to record when the status is new.
type report struct {
	kind, reason, message string
}

// assess says how a pod that is bound to the node, which knows those images, fares at now while some things are
// missing. It is a pure function of the pod, whose status it carries on from, so that a restart goes on where the last
// process was killed.
func assess(pod *corev1.Pod, address string, known images, missing lacks, now time.Time) outcome {
	status, view := beginStatus(pod, address, known, now)
	view.lacks = missing
	if missing.volume != "" {
		view.report(corev1.EventTypeWarning, "FailedMount", missing.volume)
	}
	status.InitContainerStatuses = view.initContainers()
	status.ContainerStatuses = view.containers()
	status.Phase = view.phase(status.ContainerStatuses)
	status.Conditions = view.conditions(status)
	return outcome{status: status, again: view.again, reports: view.reports}
}

// beginStatus is the status that the pod has, with what is so in any case, and the view that goes on from there.
func beginStatus(pod *corev1.Pod, address string, known images, now time.Time) (corev1.PodStatus, *podView) {
	status := *pod.Status.DeepCopy()
	status.HostIP, status.HostIPs = nodeAddress, []corev1.HostIP{{IP: nodeAddress}}
	status.PodIP, status.PodIPs = address, []corev1.PodIP{{IP: address}}
	status.ObservedGeneration = pod.Generation
	// The API keeps whole seconds.
	second := metav1.NewTime(now.Truncate(time.Second))
	if status.StartTime == nil {
		status.StartTime = &second
	}
	return status, &podView{
		pod: pod, known: known, start: status.StartTime.Time, since: now.Sub(status.StartTime.Time), now: second,
	}
}

// podView collects what the containers of one pod come to.
type podView struct {
	pod     *corev1.Pod
	known   images
	lacks   lacks
	start   time.Time
	since   time.Duration // since the pod's start
	now     metav1.Time
	blocked bool   // an init container has not finished
	unready string // why containers that run are not ready; empty where that is not known
	again   time.Duration
	reports []report
}

func (v *podView) initContainers() []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range v.pod.Spec.InitContainers {
		previous := find(v.pod.Status.InitContainerStatuses, container.Name)
		status := v.base(container, previous)
		switch mode := v.imageMode(container, previous); {
		case v.blocked:
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		case v.waitForLacks(&status, "PodInitializing", mode == Healthy):
			v.blocked = true
		case mode != Healthy:
			v.waitForImage(&status, container, mode)
			v.blocked = true
		case isSidecar(container):
			v.run(&status, previous, true)
		default:
			v.finish(&status, previous)
			status.Ready = true
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func (v *podView) containers() []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range v.pod.Spec.Containers {
		previous := find(v.pod.Status.ContainerStatuses, container.Name)
		status := v.base(container, previous)
		mode := podMode(v.pod)
		if fromImage := v.imageMode(container, previous); fromImage != Healthy {
			mode = fromImage
		}
		switch {
		case v.blocked:
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		case v.waitForLacks(&status, "ContainerCreating", mode != ImagePullError && mode != invalidImage):
		case mode == ImagePullError || mode == invalidImage:
			v.waitForImage(&status, container, mode)
		case mode == CrashLoop:
			v.crash(&status, container)
		case mode == NeverReady:
			v.run(&status, previous, false)
			v.report(corev1.EventTypeWarning, "Unhealthy",
				fmt.Sprintf("Readiness probe failed: simulated by annotation %s=%s", ModeAnnotation, NeverReady))
		case v.pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
			v.finish(&status, previous)
		default:
			v.run(&status, previous, true)
		}
		statuses = append(statuses, status)
	}
	return statuses
}

// waitForLacks makes the container wait for what the pod lacks, if it does: volumes are mounted before images are
// pulled, environments are made after that.
func (v *podView) waitForLacks(status *corev1.ContainerStatus, reason string, pulled bool) bool {
	message := cmp.Or(v.lacks.volume, v.lacks.claim)
	if problem := v.lacks.config[status.Name]; message == "" && pulled && problem != "" {
		reason, message = "CreateContainerConfigError", problem
		v.report(corev1.EventTypeWarning, "Failed", "Error: "+problem)
	}
	if message == "" {
		return false
	}
	status.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	return true
}

// imageMode is the mode a container's image asks for. What has been pulled once is there.
func (v *podView) imageMode(container corev1.Container, previous *corev1.ContainerStatus) Mode {
	if mode := imageMode(container.Image); mode != Healthy {
		return mode
	}
	if created := previous != nil && previous.ContainerID != ""; !created && v.known.lacks(container.Image) {
		return ImagePullError
	}
	return Healthy
}

func (v *podView) base(container corev1.Container, previous *corev1.ContainerStatus) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: container.Name, Image: container.Image}
	if previous != nil {
		status.RestartCount = previous.RestartCount
		status.LastTerminationState = previous.LastTerminationState
	}
	return status
}

func (v *podView) run(status, previous *corev1.ContainerStatus, ready bool) {
	if previous != nil && previous.State.Running != nil {
		status.State = previous.State
	} else {
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: v.now}
		v.report(corev1.EventTypeNormal, "Started", fmt.Sprintf("Simulated container %s: no process runs", status.Name))
	}
	v.identify(status)
	started := true
	status.Ready, status.Started = ready, &started
}

func (v *podView) finish(status, previous *corev1.ContainerStatus) {
	v.identify(status)
	started := false
	status.Started = &started
	if previous != nil && previous.State.Terminated != nil {
		status.State = previous.State
		return
	}
	status.State.Terminated = &corev1.ContainerStateTerminated{
		Reason: "Completed", StartedAt: v.now, FinishedAt: v.now, ContainerID: status.ContainerID,
	}
}

// identify marks the container as one that was created.
func (v *podView) identify(status *corev1.ContainerStatus) {
	status.ContainerID = "simulated://" + string(v.pod.UID) + "/" + status.Name
	status.ImageID = "simulated://" + status.Image
}

func (v *podView) report(kind, reason, message string) {
	v.reports = append(v.reports, report{kind, reason, message})
}

// lookAgain asks for another look after d; the soonest request counts.
func (v *podView) lookAgain(d time.Duration) {
	if v.again == 0 || d < v.again {
		v.again = d
	}
}

// phase follows the kubelet's rule: a container that never ran keeps the pod pending, one that runs or is to run again
// keeps it running.
func (v *podView) phase(containers []corev1.ContainerStatus) corev1.PodPhase {
	var waiting, active, failed int
	for _, container := range containers {
		switch {
		case container.State.Running != nil:
			active++
		case container.State.Terminated != nil:
			if container.State.Terminated.ExitCode != 0 {
				failed++
			}
		case container.LastTerminationState.Terminated != nil:
			active++
		default:
			waiting++
		}
	}
	switch {
	case v.blocked || waiting > 0:
		return corev1.PodPending
	case active > 0:
		return corev1.PodRunning
	case failed > 0:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func find(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

func isSidecar(container corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func unready(containers []corev1.ContainerStatus) string {
	var names []string
	for _, container := range containers {
		if !container.Ready {
			names = append(names, container.Name)
		}
	}
	return strings.Join(names, " ")
}
