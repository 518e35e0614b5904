// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Node is what the providers read of a node.
type Node struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status"`
}

// Spec is the wanted state of a node.
type Spec struct {
	Taints []Taint `json:"taints"`
}

// Taint keeps pods away.
type Taint struct {
	Key string `json:"key"`
}

// Unreachable is the key of the taint of a node that the control plane does not hear from.
const Unreachable = "node.kubernetes.io/unreachable"

// Status is what a node says of itself.
type Status struct {
	Conditions []Condition `json:"conditions"`
	NodeInfo   struct {
		KubeletVersion string `json:"kubeletVersion"`
	} `json:"nodeInfo"`
}

// Condition is one part of the health of a node.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	// LastHeartbeatTime is when the node said so, in whole seconds.
	LastHeartbeatTime metav1.Time `json:"lastHeartbeatTime"`
}

// The condition of a node that takes pods.
const (
	ConditionReady = "Ready"
	StatusTrue     = "True"
)

// Ready returns the condition of that name; ok is false for a node that has said nothing yet.
func (n *Node) Ready() (ready Condition, ok bool) {
	i := slices.IndexFunc(n.Status.Conditions, func(c Condition) bool { return c.Type == ConditionReady })
	if i < 0 {
		return Condition{}, false
	}
	return n.Status.Conditions[i], true
}

// From reads the object of an event of a watch; ok is false for one that is no node.
func From(object runtime.Object) (node *Node, ok bool) {
	read, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, false
	}
	node = &Node{}
	return node, runtime.DefaultUnstructuredConverter.FromUnstructured(read.Object, node) == nil
}
