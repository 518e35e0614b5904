// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Scaled returns what the autoscalers among manifests scale, by folded keys.
func Scaled(manifests []manifest.Manifest) map[manifest.Key]bool {
	scaled := map[manifest.Key]bool{}
	for _, m := range manifests {
		if target, ok := manifest.ScaleTarget(m.Unstructured); ok {
			scaled[target] = true
		}
	}
	return scaled
}

// keepReplicas gives a manifest that an autoscaler scales the number of replicas that the live object has: Git's number
// would stop pods that are needed, until the autoscaler has started them again. The live one is written rather than
// none, because a field that piped has written before and does not write again falls back to its default.
func (a *Applier) keepReplicas(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) error {
	inGit, found, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "replicas")
	if !found || !a.isScaled(m.Key()) {
		return nil
	}
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil // Git's number is the one to begin with
	case err != nil:
		return err
	}
	number, found, err := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if err != nil || !found || number == inGit {
		return nil
	}
	a.log.Infof("- %s keeps its %d replicas: an autoscaler sets them, not Git (%v)", m.Key().Human(), number, inGit)
	return unstructured.SetNestedField(m.Object, number, "spec", "replicas")
}

// isScaled looks for a key as a manifest has it that names no namespace, too.
func (a *Applier) isScaled(key manifest.Key) bool {
	if a.Scaled[key.Fold()] {
		return true
	}
	inDefault := key.Namespace == a.client.Namespace
	key.Namespace = ""
	return inDefault && a.Scaled[key.Fold()]
}
