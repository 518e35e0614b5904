// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// protection is the finalizer that Kubernetes defines for claims: a deleted claim stays while a pod uses it.
const protection = "kubernetes.io/pvc-protection"

// isDeleted reports whether a claim goes once no pod uses it.
func isDeleted(claim *corev1.PersistentVolumeClaim) bool { return claim.DeletionTimestamp != nil }

// protect gives a bound claim the finalizer, which those of an older version of this cluster do not have.
func (c *Controller) protect(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Spec.VolumeName != VolumeName(claim.UID) || slices.Contains(claim.Finalizers, protection) {
		return nil
	}
	claim = claim.DeepCopy()
	claim.Finalizers = append(claim.Finalizers, protection)
	_, err := c.config.Client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(
		ctx, claim, metav1.UpdateOptions{})
	return err
}

// release lets a deleted claim go when no pod uses it. As in Kubernetes, a pod uses a claim from the moment when it is
// bound to a node until it is gone from the API, also when it has finished.
func (c *Controller) release(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	at := slices.Index(claim.Finalizers, protection)
	if at < 0 {
		return nil
	}
	// The API is asked, because a cache may not know yet of a pod that was bound just now.
	pods, err := c.config.Client.CoreV1().Pods(claim.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("look for the pods that use claim %s: %w", claim.Name, err)
	}
	name := nameOf(claim)
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Spec.NodeName != "" && uses(pod, name) {
			c.say(claim, "InUse", fmt.Sprintf("the claim is deleted once pod %s is gone, which uses it", pod.Name))
			return nil
		}
	}
	claim = claim.DeepCopy()
	claim.Finalizers = slices.Delete(claim.Finalizers, at, at+1)
	_, err = c.config.Client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(
		ctx, claim, metav1.UpdateOptions{})
	return err
}

func uses(pod *corev1.Pod, claim types.NamespacedName) bool {
	return slices.Contains(claimsOf(pod), claim)
}
