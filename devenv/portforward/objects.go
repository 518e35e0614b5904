// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/services"
)

// What follows is what is read of Kubernetes' objects. The package k8s.io/api/core/v1 would take a twentieth of the
// time that a first start compiles before it shows anything.

// protocolTCP is also meant where no protocol is given.
const protocolTCP = "TCP"

// labelServiceName is on the EndpointSlices of a service.
const labelServiceName = "kubernetes.io/service-name"

type endpointSlice struct {
	Ports []struct {
		Name     *string `json:"name"`
		Protocol *string `json:"protocol"`
		Port     *int32  `json:"port"`
	} `json:"ports"`
	Endpoints []struct {
		Conditions struct {
			Ready       *bool `json:"ready"`
			Terminating *bool `json:"terminating"`
		} `json:"conditions"`
		TargetRef *struct {
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			UID       string `json:"uid"`
		} `json:"targetRef"`
	} `json:"endpoints"`
}

type podObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              podSpec `json:"spec"`
	Status            struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

type podSpec struct {
	Containers []struct {
		Ports []containerPort `json:"ports"`
	} `json:"containers"`
}

type containerPort struct {
	Name          string `json:"name"`
	Protocol      string `json:"protocol"`
	ContainerPort int32  `json:"containerPort"`
}

// workload is what Deployments, StatefulSets and DaemonSets have in common.
type workload struct {
	metav1.TypeMeta `json:",inline"`
	services.Meta   `json:"metadata"`
	Spec            struct {
		Selector *metav1.LabelSelector `json:"selector"`
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}
