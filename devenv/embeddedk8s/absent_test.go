// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAnObjectThatNothingActsOnSaysSo(t *testing.T) {
	t.Parallel()
	client := startReady(t, t.TempDir()).client(t)
	_, err := client.NetworkingV1().NetworkPolicies("default").Create(t.Context(),
		&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "closed"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.StorageV1().StorageClasses().Create(t.Context(),
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "disks.example"},
		metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	requireEvent(t, client, "NotServed", "nothing gives it an address")
	requireEvent(t, client, "NotServed",
		"nothing acts on this object in the embedded cluster: no policy filters connections")
	requireEvent(t, client, "NotServed", "only claims of the class standard get a volume")
	events, err := client.CoreV1().Events("").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=NotServed"})
	require.NoError(t, err)
	var about []corev1.ObjectReference
	for _, event := range events.Items {
		about = append(about, corev1.ObjectReference{
			Kind: event.InvolvedObject.Kind, Name: event.InvolvedObject.Name,
		})
	}
	require.ElementsMatch(t, []corev1.ObjectReference{
		{Kind: "NetworkPolicy", Name: "closed"}, {Kind: "StorageClass", Name: "fast"},
		{Kind: "Service", Name: "web"},
	}, about, "nothing that the cluster makes itself is among them")
}
