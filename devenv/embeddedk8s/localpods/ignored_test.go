// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestFieldsWithoutEffectAreListedByTheirPaths(t *testing.T) {
	t.Parallel()
	pod := newPodOf("web", "wait")
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(7))}
	pod.Spec.HostAliases = []corev1.HostAlias{{IP: "127.0.0.1"}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(1, resource.BinarySI)},
	}}}
	main := &pod.Spec.Containers[0]
	main.SecurityContext = &corev1.SecurityContext{
		RunAsUser: new(int64(1000)), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	main.Ports = []corev1.ContainerPort{
		{Name: "http", ContainerPort: 8080, HostPort: 80}, {ContainerPort: 9090, HostPort: 90},
	}
	main.VolumeMounts = []corev1.VolumeMount{{Name: "cache", MountPath: "/cache", ReadOnly: true}}
	init := *main.DeepCopy()
	init.Name, init.Ports, init.VolumeMounts = "first", nil, nil
	pod.Spec.InitContainers = []corev1.Container{init}
	require.Equal(t, []string{
		"spec.containers[main].ports[9090].hostPort",
		"spec.containers[main].ports[http].hostPort",
		"spec.containers[main].securityContext.capabilities",
		"spec.containers[main].securityContext.runAsUser",
		"spec.containers[main].volumeMounts[cache].readOnly",
		"spec.hostAliases",
		"spec.initContainers[first].securityContext.capabilities",
		"spec.initContainers[first].securityContext.runAsUser",
		"spec.securityContext.fsGroup",
		"spec.volumes[cache].emptyDir.sizeLimit",
	}, ignoredFields(pod))
}

func TestAPlainPodHasNoFieldsWithoutEffect(t *testing.T) {
	t.Parallel()
	pod := server("web")
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{} // what the API server fills in
	pod.Spec.DNSPolicy, pod.Spec.SchedulerName = corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	pod.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageReadFile
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
		{Name: "kube-api-access-x", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
	}
	require.Empty(t, ignoredFields(pod))
}

func TestOneEventListsTheFieldsWithoutEffect(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("web", "wait")
	for i := range maxIgnored + 3 {
		pod.Spec.Containers[0].Ports = append(pod.Spec.Containers[0].Ports, corev1.ContainerPort{
			Name: fmt.Sprintf("p%02d", i), ContainerPort: int32(9000 + i), Protocol: corev1.ProtocolUDP, HostPort: 1,
		})
	}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it runs", isReady)
	require.True(t, c.said("FieldsIgnored: these fields have no effect on processes of this machine: "+
		"spec.containers[main].ports[p00].hostPort, "))
	require.True(t, c.said("ports[p14].hostPort and 3 more"))
}

func TestAVariableOfTheManifestThatIsReplacedIsNamed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("web", "env", "wait")
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PORT", Value: "8080"}, {Name: "POD_ROOT"}}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it runs", isReady)
	require.True(t, c.said("VariableReplaced: container main: PORT is "))
	require.True(t, c.said(", not 8080 as in the manifest: the program has to listen there"))
	require.False(t, c.said("POD_ROOT"))
}
