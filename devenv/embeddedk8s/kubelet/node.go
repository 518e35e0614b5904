// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// register makes the node, or takes over the one of an earlier run, and removes simulated nodes of other names.
func (k *Kubelet) register(ctx context.Context) error {
	// Whoever loads images may change the node of an earlier run at the same time.
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return k.tryRegister(ctx) }); err != nil {
		return err
	}
	others := metav1.ListOptions{LabelSelector: SimulatedKey, FieldSelector: "metadata.name!=" + k.config.NodeName}
	if err := k.config.Client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{}, others); err != nil {
		return fmt.Errorf("remove nodes of other names: %w", err)
	}
	return nil
}

func (k *Kubelet) tryRegister(ctx context.Context) error {
	nodes := k.config.Client.CoreV1().Nodes()
	node, err := nodes.Create(ctx, k.node(), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		node, err = nodes.Get(ctx, k.config.NodeName, metav1.GetOptions{})
	}
	if err != nil {
		return fmt.Errorf("register node %s: %w", k.config.NodeName, err)
	}
	// The API server gives every new node this taint, and no controller is here to take it away.
	taints := node.Spec.Taints[:0]
	for _, taint := range node.Spec.Taints {
		if taint.Key != corev1.TaintNodeNotReady {
			taints = append(taints, taint)
		}
	}
	if len(taints) != len(node.Spec.Taints) {
		node.Spec.Taints = taints
		if node, err = nodes.Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("make node %s schedulable: %w", k.config.NodeName, err)
		}
	}
	known := node.Status.Images
	node.Status = k.nodeStatus()
	node.Status.Images = known
	if _, err := nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("report node %s ready: %w", k.config.NodeName, err)
	}
	return nil
}

func (k *Kubelet) node() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.config.NodeName,
			Labels: map[string]string{
				corev1.LabelHostname:   k.config.NodeName,
				corev1.LabelArchStable: runtime.GOARCH,
				corev1.LabelOSStable:   string(corev1.Linux),
				SimulatedKey:           "true",
			},
		},
	}
}

// whatRuns says what the node does with pods, in the status of the node.
type whatRuns struct{ reason, message, runtime, image string }

func (k *Kubelet) whatRuns() whatRuns {
	if k.local == nil {
		return whatRuns{
			"Simulated", "simulated node: pods run no containers", "simulated://none", "simulated (runs no containers)",
		}
	}
	return whatRuns{
		"LocalPods", "pods of known images run as processes of this machine, others are simulated",
		"process://pipedeck", "this machine (pods run as processes, or are simulated)",
	}
}

// nodeStatus promises more than anyone will ask for: nothing is used up here.
func (k *Kubelet) nodeStatus() corev1.NodeStatus {
	what := k.whatRuns()
	now := metav1.NewTime(k.config.Clock.Now())
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("10k"),
	}
	return corev1.NodeStatus{
		Capacity:    capacity,
		Allocatable: capacity,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: nodeAddress},
			{Type: corev1.NodeHostName, Address: k.config.NodeName},
		},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: what.reason,
			Message:           what.message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{
			KubeletEndpoint: corev1.DaemonEndpoint{Port: k.config.APIPort},
		},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:          k.config.Version,
			ContainerRuntimeVersion: what.runtime,
			OSImage:                 what.image,
			OperatingSystem:         string(corev1.Linux),
			Architecture:            runtime.GOARCH,
		},
	}
}
