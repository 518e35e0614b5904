// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// How long after its pod's start, which is kept in whole seconds, a pull is shown as failed before it is shown as
	// backing off.
	pullErrorShown = 2 * time.Second
	// The kubelet's crash-loop back-off: doubled after each crash, up to five minutes.
	crashBackOff    = 10 * time.Second
	maxCrashBackOff = 5 * time.Minute
)

// waitForImage makes the container wait for an image which never comes.
func (v *podView) waitForImage(status *corev1.ContainerStatus, container corev1.Container, mode Mode) {
	if mode == invalidImage {
		message := fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name %q: invalid "+
			"reference format",
			container.Image, container.Image)
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "InvalidImageName", Message: message}
		v.report(corev1.EventTypeWarning, "InspectFailed", message)
		return
	}
	if v.since < pullErrorShown {
		message := fmt.Sprintf("simulated: image %q cannot be pulled: not found", container.Image)
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: message}
		v.report(
			corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", container.Image, message),
		)
		v.report(corev1.EventTypeWarning, "Failed", "Error: ErrImagePull")
		v.lookAgain(pullErrorShown - v.since)
		return
	}
	message := fmt.Sprintf("Back-off pulling image %q: simulated: not found", container.Image)
	status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: message}
	v.report(corev1.EventTypeWarning, "BackOff", message)
	v.report(corev1.EventTypeWarning, "Failed", "Error: ImagePullBackOff")
}

// crash makes the container exit with 1, at once and after each back-off.
func (v *podView) crash(status *corev1.ContainerStatus, container corev1.Container) {
	v.identify(status)
	started := false
	status.Started = &started
	crashes, last, next := crashesBy(v.since)
	if v.pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		status.State = v.exit(status.ContainerID, 0)
		return
	}
	status.RestartCount, status.LastTerminationState = int32(crashes), v.exit(status.ContainerID, last)
	message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		next-last, container.Name, v.pod.Name, v.pod.Namespace, v.pod.UID)
	status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: message}
	v.report(corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container "+container.Name+
		" in pod "+v.pod.Name+": simulated exit code 1")
	v.lookAgain(next - v.since)
}

// exit is the state of a container that crashed when its pod was as old as age.
func (v *podView) exit(containerID string, age time.Duration) corev1.ContainerState {
	at := metav1.NewTime(v.start.Add(age))
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", Message: "simulated: exit code 1", StartedAt: at, FinishedAt: at,
		ContainerID: containerID,
	}}
}

// crashesBy says how often a container has crashed when its pod is as old as age, the age at the latest crash and at
// the next one.
func crashesBy(age time.Duration) (crashes int, last, next time.Duration) {
	backOff := crashBackOff
	crashes, next = 1, crashBackOff
	for next <= age {
		crashes++
		backOff = min(2*backOff, maxCrashBackOff)
		last, next = next, next+backOff
	}
	return crashes, last, next
}
