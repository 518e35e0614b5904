// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"runtime"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
)

// nodeAddress is the node's.
const nodeAddress = "127.0.0.1"

// field is a field of the pod by its path, as the downward API gives it.
func (p *pod) field(path string) (string, error) {
	switch path {
	case "spec.nodeName":
		return p.now.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return p.now.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return nodeAddress, nil
	case "status.podIP", "status.podIPs":
		return p.address, nil
	}
	return fieldpath.ExtractFieldPathAsString(p.now, path)
}

// resourceField is a request or limit of a container of the pod. A limit that is not set is that of the machine.
func resourceField(pod *corev1.Pod, of *corev1.Container, field *corev1.ResourceFieldSelector) (string, error) {
	name := field.ContainerName
	if name == "" {
		name = of.Name
	}
	return resource.ExtractResourceValueByContainerNameAndNodeAllocatable(field, pod, name, corev1.ResourceList{
		corev1.ResourceCPU:              *quantity.NewQuantity(int64(runtime.NumCPU()), quantity.DecimalSI),
		corev1.ResourceMemory:           *quantity.NewQuantity(machineMemory(), quantity.BinarySI),
		corev1.ResourceEphemeralStorage: quantity.MustParse("1Ti"),
	})
}
