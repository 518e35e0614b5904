// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

// clusterScoped lists the kinds of Kubernetes itself that have no namespace. It is used only where no cluster can be
// asked; a custom kind that is missing here is put right when it is applied.
var clusterScoped = map[string][]string{
	"":                          {"Namespace", "Node", "PersistentVolume"},
	"rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding"},
	"apiextensions.k8s.io":      {"CustomResourceDefinition"},
	"apiregistration.k8s.io":    {"APIService"},
	"admissionregistration.k8s.io": {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding"},
	"storage.k8s.io": {"StorageClass", "CSIDriver", "CSINode", "VolumeAttachment",
		"VolumeAttributesClass"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"node.k8s.io":                  {"RuntimeClass"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"resource.k8s.io":              {"DeviceClass", "ResourceSlice"},
}

func isClusterScoped(m Manifest) bool {
	for _, kind := range clusterScoped[m.GroupVersionKind().Group] {
		if kind == m.GetKind() {
			return true
		}
	}
	return false
}
