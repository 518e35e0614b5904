// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that make an object a hook: one that is no part of the application and runs at a moment of a deployment.
const (
	AnnotationHelmHook = "helm.sh/hook"
	AnnotationArgoHook = "argocd.argoproj.io/hook"
	// AnnotationHookRun says for which deployment, and at which of its moments, a hook was applied. Its prefix is that
	// of the stamp, so that it is neither drift nor shown in a plan preview.
	AnnotationHookRun = "pipecd.dev/hook-run"

	// hookOfDefinitions is a hook of Helm 2 for what is now applied as all other objects.
	hookOfDefinitions = "crd-install"
)

// IsHook reports whether an object is a hook of Helm or of Argo CD.
func IsHook(o metav1.Object) bool {
	annotations := o.GetAnnotations()
	return AreHooks(Words(annotations[AnnotationArgoHook])) || AreHooks(Words(annotations[AnnotationHelmHook]))
}

// AreHooks reports whether words of such an annotation make an object a hook.
func AreHooks(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return word != hookOfDefinitions })
}

// WithoutHooks returns the manifests that are no hooks: those of the application itself.
func WithoutHooks(manifests []Manifest) []Manifest {
	return slices.DeleteFunc(slices.Clone(manifests), func(m Manifest) bool { return IsHook(m) })
}

// Words takes a value apart that lists words: "pre-install, pre-upgrade".
func Words(value string) []string {
	var words []string
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}
