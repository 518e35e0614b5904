// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

const (
	// SimulatedKey is "true" as a label of the node and as an annotation of every pod bound to it.
	SimulatedKey = "pipedeck.dev/simulated"
	// ReasonKey is an annotation of a simulated pod, when others run as processes: why it does not.
	ReasonKey = "pipedeck.dev/simulated-reason"
	// ModeAnnotation on a pod (or a workload's pod template) asks for a Mode.
	ModeAnnotation = "pipedeck.dev/simulate"

	// missingTag and reservedDomain make an image that cannot be pulled without an annotation. The domain is reserved
	// by RFC 2606, so such an image cannot exist on a real cluster either.
	missingTag     = "does-not-exist"
	reservedDomain = ".invalid"
)

// Mode is how a pod or a container fares.
type Mode string

// The modes a pod may ask for. A container's image may ask for ImagePullError too, see imageMode.
const (
	Healthy        Mode = ""
	ImagePullError Mode = "image-pull-error" // waiting: ErrImagePull, within two seconds ImagePullBackOff
	CrashLoop      Mode = "crash-loop"       // exits with 1 again and again: CrashLoopBackOff, restarts count up
	NeverReady     Mode = "never-ready"      // runs but never passes its readiness probe
	Unschedulable  Mode = "unschedulable"    // stays pending, bound to no node

	invalidImage Mode = "invalid-image-name"
)

// podMode is the mode the pod asks for; an unknown word is Healthy.
func podMode(pod *corev1.Pod) Mode {
	switch mode := Mode(pod.Annotations[ModeAnnotation]); mode {
	case ImagePullError, CrashLoop, NeverReady, Unschedulable:
		return mode
	}
	return Healthy
}

// imageMode is the mode an image asks for by its name: one that is no valid reference, and one that is known not to
// exist.
func imageMode(image string) Mode {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return invalidImage
	}
	host, _, _ := strings.Cut(reference.Domain(named), ":")
	if strings.HasSuffix(host, reservedDomain) {
		return ImagePullError
	}
	if tagged, ok := named.(reference.Tagged); ok && tagged.Tag() == missingTag {
		return ImagePullError
	}
	return Healthy
}
