// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

// Absent returns what the cluster lacks: kinds of objects that nothing acts on, and features. The program records an
// Event on such objects by its own list, devenv/embeddedk8s/absent/absent.yaml; a test in docs compares both.
func Absent() (kinds, features []string) {
	return []string{
			"NetworkPolicy", "CertificateSigningRequest", "Endpoints", "PersistentVolume", "StorageClass",
			"VolumeAttributesClass", "VolumeAttachment", "CSIDriver", "RuntimeClass", "ResourceClaim",
			"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
		}, []string{
			"containers", "DNS", "addresses of pods and cluster IPs", "limits of processors",
			"custom and external metrics", "several nodes",
		}
}
