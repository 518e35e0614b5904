// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
)

// Kind names a provider as the --cluster flag does.
type Kind string

// The kinds of clusters.
const (
	None     Kind = "none"
	Embedded Kind = "embedded"
	Existing Kind = "existing"
	// InDocker is kind's own: Kubernetes in Docker, Podman or nerdctl.
	InDocker Kind = "kind"
)

// ErrNoImages means that a cluster takes no images from this machine: it pulls them from registries only.
var ErrNoImages = errors.New("this cluster takes no images from this machine")

// ErrNeedsArchive means that a cluster runs containers, or programs for them, and so needs the content of an image, not
// only its name.
var ErrNeedsArchive = errors.New("this cluster runs images and needs the image itself")

// ErrSimulated means that all pods of an application are simulated.
var ErrSimulated = errors.New("its pods are simulated: no program of theirs runs that could answer")

// Errors are the errors of this package by names, under which they are sent to other processes.
func Errors() map[string]error {
	return map[string]error{"no images": ErrNoImages, "needs archive": ErrNeedsArchive}
}

// Progress reports how far Run is before it calls ready. Total is 0 when the end is not known.
type Progress func(detail string, done, total int64)

// Provider makes one cluster available to one environment.
type Provider interface {
	// Describe says what kind of cluster it is, without making one. The answer may change when
	// ready is called, not afterwards.
	Describe() Description
	// Run makes or adopts the cluster, calls ready with a line about it once its nodes are Ready,
	// and keeps it up until ctx ends; ready may be called again after a restart. Before it returns
	// it has stopped what needs this process, and removed a cluster that it was still making when
	// ctx ended or an error came; a finished one stays for the next Run. An error before ready
	// means that there is no cluster; one after it that the cluster was lost.
	Run(ctx context.Context, progress Progress, ready func(detail string)) error
	// LoadImage makes an image known to every node. Run has called ready, or the provider has said
	// in its own way that its nodes take images already. ErrNoImages when the cluster takes none.
	LoadImage(ctx context.Context, image Image) error
	// Delete removes all that Run has made, also after this process was killed in the middle of
	// it, and nothing else. The caller has ended Run.
	Delete(ctx context.Context) error
}

// ImageKeeper is a Provider whose nodes may lose images again. Of the others, what was loaded stays.
type ImageKeeper interface {
	// HasImage reports whether the nodes still have all that LoadImage has brought under references.
	HasImage(references []string) bool
}

// Questions are asked of the API of a cluster. A Provider has them for a cluster whose kubeconfig is the user's; of
// others, package kubeapi reads the kubeconfig.
type Questions interface {
	// Healthy returns why the API server does not answer that it is ready.
	Healthy(ctx context.Context) error
	// Identity returns what distinguishes the cluster from one that is made again in its place.
	Identity(ctx context.Context) (string, error)
}

// Image is what LoadImage brings to nodes.
type Image struct {
	// Archive is a tar file in the format of `docker save` or an OCI layout; empty when the image could not be built.
	Archive string
	// Program is the executable of the image, built for this machine, for a cluster that runs images as processes;
	// empty for none.
	Program string
	// References name the image.
	References []string
}

// Description is what users see of a cluster.
type Description struct {
	Kind Kind
	// Simulated is true when no container runs and no process stands in for one.
	Simulated bool
	// Local is true when images run as processes of this machine: those that the environment builds, and those that the
	// user has mapped to programs. Pods with other images are simulated.
	Local bool
	// Kubeconfig is a file that reaches the cluster; empty when there is none.
	Kubeconfig string
}

// HintError is a failure with the next step for the user.
type HintError struct {
	Err error
	// Hint is a command or a short sentence.
	Hint string
	// Usage says that the user's input is wrong, such as a configuration file.
	Usage bool
}

func (e *HintError) Error() string { return e.Err.Error() }

// Unwrap returns the failure itself.
func (e *HintError) Unwrap() error { return e.Err }
