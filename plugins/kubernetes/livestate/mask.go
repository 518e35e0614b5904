// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// hidden stands before the hash of a secret value, and alone where people read.
const hidden = "******"

// masker replaces values of Secrets by hashes that only this process can make.
type masker struct{ key []byte }

func newMasker() *masker {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails
	return &masker{key: key}
}

// mask changes the object itself. Plain values become what the API stores: base64 in data.
func (m *masker) mask(o *unstructured.Unstructured) {
	if o.GetKind() != manifest.KindSecret || o.GroupVersionKind().Group != "" {
		return
	}
	data := map[string]any{}
	stored, _ := o.Object["data"].(map[string]any)
	for key, value := range stored {
		text, _ := value.(string)
		if strings.HasPrefix(text, hidden) { // not base64: it has been here before, informers may transform twice
			data[key] = text
			continue
		}
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			plain = []byte(text)
		}
		data[key] = m.hash(plain)
	}
	written, _ := o.Object["stringData"].(map[string]any)
	for key, value := range written {
		text, _ := value.(string)
		data[key] = m.hash([]byte(text))
	}
	delete(o.Object, "stringData")
	delete(o.Object, "data") // whatever it is
	if len(data) > 0 {
		o.Object["data"] = data
	}
	// `kubectl apply` leaves the values here a second time.
	annotations := o.GetAnnotations()
	if _, found := annotations[lastApplied]; found {
		delete(annotations, lastApplied)
		o.SetAnnotations(annotations)
	}
}

func (m *masker) hash(value []byte) string {
	sum := hmac.New(sha256.New, m.key)
	sum.Write(value)
	return hidden + hex.EncodeToString(sum.Sum(nil))
}
