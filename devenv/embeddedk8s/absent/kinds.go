// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package absent

import (
	_ "embed" // the list
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/claims"
)

//go:embed absent.yaml
var list []byte

// Kind is a kind of objects that nothing acts on.
type Kind struct {
	Kind string `json:"kind"`
	// Of says which objects of the kind are meant; empty for all of them.
	Of string `json:"of"`
	// Resource is the resource with its version and group, as in "networkpolicies.v1.networking.k8s.io".
	Resource string `json:"resource"`
	// Lacks says what does not happen.
	Lacks string `json:"lacks"`
}

// kinds returns the list.
func kinds() ([]Kind, error) {
	var content struct {
		Kinds    []Kind `json:"kinds"`
		Features []any  `json:"features"`
	}
	if err := yaml.UnmarshalStrict(list, &content); err != nil {
		return nil, fmt.Errorf("read the list of what the cluster lacks: %w", err)
	}
	return content.Kinds, nil
}

func (k Kind) resource() (schema.GroupVersionResource, error) {
	resource, _ := schema.ParseResourceArg(k.Resource)
	if resource == nil {
		return schema.GroupVersionResource{}, fmt.Errorf("%q is not a resource, version and group", k.Resource)
	}
	return *resource, nil
}

// concerns reports whether an object is among those that Of names, in a cluster whose pods are all simulated or not.
func concerns(object any, simulated bool) bool {
	switch object := object.(type) {
	case *corev1.Service:
		return simulated && object.Spec.Type == corev1.ServiceTypeLoadBalancer
	case *corev1.PersistentVolume:
		return object.Annotations[claims.ProvisionedBy] != claims.Provisioner
	case *storagev1.StorageClass:
		return object.Provisioner != claims.Provisioner
	case *admissionv1.ValidatingWebhookConfiguration:
		for _, webhook := range object.Webhooks {
			if webhook.ClientConfig.Service != nil {
				return true
			}
		}
		return false
	case *admissionv1.MutatingWebhookConfiguration:
		for _, webhook := range object.Webhooks {
			if webhook.ClientConfig.Service != nil {
				return true
			}
		}
		return false
	}
	return true
}
