// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hidden replaces the values of Secrets by marks that say nothing about them, and knows which is which.
type hidden struct {
	key []byte
	// values are those of data by the marks there, in base64 both.
	values map[string]string
}

func newHidden(key []byte) *hidden { return &hidden{key: key, values: map[string]string{}} }

// hide replaces the values of a Secret or of a list of them.
func (h *hidden) hide(data []byte) ([]byte, error) {
	var found unstructured.Unstructured
	if err := json.Unmarshal(data, &found.Object); err != nil {
		return nil, fmt.Errorf("read the answer of the API: %w", err)
	}
	items, isList := found.Object["items"].([]any)
	if !isList {
		items = []any{found.Object}
	}
	for _, item := range items {
		if secret, is := item.(map[string]any); is {
			h.hideOne(&unstructured.Unstructured{Object: secret}, isList)
		}
	}
	return json.Marshal(found.Object)
}

func (h *hidden) hideOne(secret *unstructured.Unstructured, inList bool) {
	if inList {
		secret.SetAPIVersion("v1")
		secret.SetKind("Secret")
	}
	annotations := secret.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation) // it repeats the values
	secret.SetAnnotations(annotations)
	values, _ := secret.Object["data"].(map[string]any)
	for name, value := range values {
		mark := h.mark(secret.GetNamespace(), secret.GetName(), name)
		h.values[mark], _ = value.(string)
		values[name] = mark
	}
}

// mark stands for a value, whatever it is: a template that reads it twice gets the same.
func (h *hidden) mark(namespace, name, key string) string {
	sum := hmac.New(sha256.New, h.key)
	_, _ = fmt.Fprintf(sum, "%s/%s/%s", namespace, name, key) // a hash takes everything
	return base64.StdEncoding.EncodeToString([]byte("hidden-" + hex.EncodeToString(sum.Sum(nil)[:12])))
}

// Restore puts the values of Secrets back where a Secret has the mark of one, so that it can be compared. Everywhere
// else the marks stay.
func (v *View) Restore(o *unstructured.Unstructured) {
	if v == nil || v.hidden == nil || o.GetAPIVersion() != "v1" || o.GetKind() != "Secret" {
		return
	}
	data, _ := o.Object["data"].(map[string]any)
	for name, value := range data {
		if text, is := value.(string); is && v.hidden.values[text] != "" {
			data[name] = v.hidden.values[text]
		}
	}
	plain, _ := o.Object["stringData"].(map[string]any)
	for name, value := range plain {
		text, is := value.(string)
		kept := v.hidden.values[base64.StdEncoding.EncodeToString([]byte(text))]
		if decoded, err := base64.StdEncoding.DecodeString(kept); is && kept != "" && err == nil {
			plain[name] = string(decoded)
		}
	}
}
