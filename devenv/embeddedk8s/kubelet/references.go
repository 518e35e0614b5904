// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	resourcehelpers "k8s.io/component-helpers/resource"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/claims"
)

// watchReferences gives pods another chance when something comes or changes that they wait for: claims, also before
// they are bound to the node, ConfigMaps and Secrets.
func (k *Kubelet) watchReferences() error {
	core := k.config.Informers.Core().V1()
	k.claims = core.PersistentVolumeClaims().Lister()
	if _, err := core.PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { k.enqueuePending() },
		UpdateFunc: func(_, after any) { k.enqueuePending(); k.enqueueWaiting(after) },
		DeleteFunc: func(any) { k.enqueuePending() },
	}); err != nil {
		return fmt.Errorf("watch claims: %w", err)
	}
	for _, informer := range []cache.SharedIndexInformer{core.ConfigMaps().Informer(), core.Secrets().Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(object any, first bool) {
				if !first { // pods are looked at anyway after a start
					k.enqueueWaiting(object)
				}
			},
			UpdateFunc: func(_, after any) { k.enqueueWaiting(after) },
		}); err != nil {
			return fmt.Errorf("watch the objects that pods refer to: %w", err)
		}
	}
	return nil
}

// enqueueWaiting looks at the pods of an object's namespace that are bound to the node and have not begun.
func (k *Kubelet) enqueueWaiting(object any) {
	of, ok := object.(metav1.Object)
	if !ok {
		return
	}
	pods, err := k.pods.Pods(of.GetNamespace()).List(labels.Everything())
	if err != nil {
		return // a lister on a cache does not fail
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending {
			k.enqueue(pod)
		}
	}
}

// claimObstacle says which claim keeps the pod from the node: one that is not there or never bound, or one that is
// deleted, which serves only the pods that have it already. Empty: none does.
func (k *Kubelet) claimObstacle(ctx context.Context, pod *corev1.Pod) (string, error) {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		name := volume.PersistentVolumeClaim.ClaimName
		claim, err := k.claims.PersistentVolumeClaims(pod.Namespace).Get(name)
		if apierrors.IsNotFound(err) { // it may have been created just before the pod
			live := k.config.Client.CoreV1().PersistentVolumeClaims(pod.Namespace)
			claim, err = live.Get(ctx, name, metav1.GetOptions{})
		}
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Sprintf("persistentvolumeclaim %q not found", name), nil
		case err != nil:
			return "", fmt.Errorf("look up claim %s: %w", name, err)
		case claim.DeletionTimestamp != nil:
			return fmt.Sprintf("persistentvolumeclaim %q is being deleted", name), nil
		case claim.Status.Phase == corev1.ClaimBound:
			continue
		}
		if why := claims.Unsupported(claim); why != "" {
			return fmt.Sprintf("pod has unbound PersistentVolumeClaims: %s: %s", name, why), nil
		}
	}
	return "", nil
}

// resourceObstacle says of which resource a pod asks for more than the whole node has. Resources that the node does not
// list are not counted: a simulated pod needs no graphics card.
func resourceObstacle(pod *corev1.Pod, node *corev1.Node) string {
	requests := resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		has, listed := node.Status.Allocatable[name]
		if wants := requests[name]; listed && wants.Cmp(has) > 0 {
			return fmt.Sprintf("Insufficient %s: the pod requests %s, the node has %s", name, wants.String(),
				has.String())
		}
	}
	return ""
}
