// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/responsewriter"
)

// openAPIRoot lists the OpenAPI documents of a server.
const openAPIRoot = "/openapi/v3"

// keepOpenAPIRoot makes the server that has Kubernetes' own kinds list its OpenAPI documents only once to the server
// before it in the chain, which asks every second and merges them with those of custom resources. The list never
// changes, and each answer would be put together from the lists of 40 groups. It is called before the servers are
// prepared, and concerns no client.
func keepOpenAPIRoot(chain server.DelegationTarget) {
	if kubernetes, ok := chain.NextDelegate().(*server.GenericAPIServer); ok {
		kubernetes.Handler.Director = &keptRoot{Handler: kubernetes.Handler.Director}
	}
}

// keptRoot is a handler that keeps its first good answer to openAPIRoot. Many goroutines may use it.
type keptRoot struct {
	http.Handler

	mu   sync.Mutex
	kept []byte
}

func (k *keptRoot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != openAPIRoot {
		k.Handler.ServeHTTP(w, r)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		first := responsewriter.NewInMemoryResponseWriter()
		k.Handler.ServeHTTP(first, r)
		if first.RespCode() != http.StatusOK {
			w.WriteHeader(first.RespCode())
			_, _ = w.Write(first.Data())
			return
		}
		k.kept = first.Data()
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(k.kept)
}
