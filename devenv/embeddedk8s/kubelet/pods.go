// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// keepAddresses takes note of the addresses which pods of an earlier run have, before any new pod gets one.
func (k *Kubelet) keepAddresses() error {
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for _, pod := range pods {
		if pod.Status.PodIP == "" || finished(pod.Status.Phase) {
			continue
		}
		if _, err := k.addresses.of(pod.UID, pod.Status.PodIP); err != nil {
			return err
		}
	}
	return nil
}

// work looks at one queued pod after the other until the queue shuts down.
func (k *Kubelet) work(ctx context.Context) {
	for {
		name, shutdown := k.queue.Get()
		if shutdown {
			return
		}
		k.workOn(ctx, name)
	}
}

func (k *Kubelet) workOn(ctx context.Context, name types.NamespacedName) {
	defer k.queue.Done(name)
	err := k.look(ctx, name)
	switch {
	case err == nil, ctx.Err() != nil, apierrors.IsNotFound(err):
		k.queue.Forget(name)
	default:
		// A conflict is the usual case: the pod has changed since the informer saw it, and its event is on the way.
		if !apierrors.IsConflict(err) {
			klog.FromContext(ctx).Error(err, "Simulating a pod failed, will try again", "pod", name)
		}
		k.queue.AddRateLimited(name)
	}
}

// look brings one pod a step further.
func (k *Kubelet) look(ctx context.Context, name types.NamespacedName) error {
	pod, err := k.pods.Pods(name.Namespace).Get(name.Name)
	if err != nil {
		return err
	}
	switch {
	case pod.DeletionTimestamp != nil && k.runs(pod):
		return k.endLocal(ctx, pod)
	case pod.DeletionTimestamp != nil:
		return k.remove(ctx, pod)
	case pod.Spec.NodeName == "":
		return k.schedule(ctx, pod)
	case finished(pod.Status.Phase):
		k.addresses.release(pod.UID)
		return nil
	case k.runsLocally(pod):
		return k.runLocal(ctx, pod)
	}
	return k.simulate(ctx, pod)
}

// remove ends a pod's deletion: nothing runs, so there is nothing to wait for.
func (k *Kubelet) remove(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
		return nil // only finalizers hold it
	}
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	return k.config.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
}

// simulate writes the pod's status when it is not what it should be.
func (k *Kubelet) simulate(ctx context.Context, pod *corev1.Pod) error {
	reason := k.whySimulated(pod)
	k.simulated.add(pod.UID)
	pod, err := k.annotate(ctx, pod, map[string]string{SimulatedKey: "true", ReasonKey: reason})
	if err != nil {
		return err
	}
	address, err := k.addresses.of(pod.UID, pod.Status.PodIP)
	if err != nil {
		return err
	}
	if current, err := k.pods.Pods(pod.Namespace).Get(pod.Name); err != nil || current.UID != pod.UID {
		k.addresses.release(pod.UID) // deleted meanwhile, so that forget may have come before
		return nil
	}
	known, err := k.imagesFor(ctx, pod)
	if err != nil {
		return err
	}
	missing, err := k.references.lacksOf(ctx, pod)
	if err != nil {
		return err
	}
	outcome := assess(pod, address, known, missing, k.config.Clock.Now())
	if outcome.again > 0 {
		k.queue.AddAfter(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, outcome.again)
	}
	return k.write(ctx, pod, outcome)
}

func (k *Kubelet) write(ctx context.Context, pod *corev1.Pod, outcome outcome) error {
	if equality.Semantic.DeepEqual(pod.Status, outcome.status) {
		return nil
	}
	changed := pod.DeepCopy()
	changed.Status = outcome.status
	if _, err := k.config.Client.CoreV1().Pods(pod.Namespace).UpdateStatus(
		ctx, changed, metav1.UpdateOptions{},
	); err != nil {
		return err
	}
	for _, report := range outcome.reports {
		k.recorder.Event(pod, report.kind, report.reason, report.message)
	}
	return nil
}
