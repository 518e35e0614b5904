// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// watchClaims gives pending pods another chance when a claim is gone that they waited for.
func (k *Kubelet) watchClaims() error {
	claims := k.config.Informers.Core().V1().PersistentVolumeClaims()
	k.claims = claims.Lister()
	_, err := claims.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(any) { k.enqueuePending() },
	})
	if err != nil {
		return fmt.Errorf("watch claims: %w", err)
	}
	return nil
}

// claimObstacle says which claim keeps the pod from the node: one that is deleted serves only the pods that have it
// already. Empty: none does.
func (k *Kubelet) claimObstacle(pod *corev1.Pod) string {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := k.claims.PersistentVolumeClaims(pod.Namespace).Get(volume.PersistentVolumeClaim.ClaimName)
		if err == nil && claim.DeletionTimestamp != nil {
			return fmt.Sprintf("persistentvolumeclaim %q is being deleted", claim.Name)
		}
	}
	return ""
}
