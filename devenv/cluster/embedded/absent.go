// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

// Absent returns what the cluster lacks: kinds of objects that nothing acts on, and features. The program records an
// Event on such objects by its own list, devenv/embeddedk8s/absent/absent.yaml; a test in docs compares both.
func Absent() (kinds, features []string) {
	return []string{
			"NetworkPolicy", "CertificateSigningRequest", "Endpoints",
			"Service (those of type LoadBalancer where all pods are simulated)",
			"PersistentVolume (those that you create)", "StorageClass (those that you create)",
			"VolumeAttributesClass", "VolumeAttachment", "CSIDriver", "RuntimeClass", "ResourceClaim",
			"ValidatingWebhookConfiguration (those that name a Service)",
			"MutatingWebhookConfiguration (those that name a Service)",
		}, []string{
			"containers", "DNS", "addresses of pods and cluster IPs", "limits of processors",
			"security contexts and host ports", "further ports of a container", "custom and external metrics",
			"session affinity of Services", "ephemeral containers", "routes of gRPC", "several nodes",
		}
}
