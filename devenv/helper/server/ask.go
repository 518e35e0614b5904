// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/helper"
)

// maxBody is what is read of an answer, in bytes.
const maxBody = 64 << 10

// Ask implements helperv1.HelperServiceServer.
func (s *Server) Ask(ctx context.Context, r *helperv1.AskRequest) (response *helperv1.AskResponse, err error) {
	response = &helperv1.AskResponse{}
	if r.GetIdentity() {
		response.Identity, err = identityOf(ctx, r.GetKubeconfig())
	} else {
		err = s.health.ask(ctx, r.GetKubeconfig())
	}
	return response, helper.Encode(err)
}

// identityOf is the uid of the namespace that each cluster has from its beginning to its end.
func identityOf(ctx context.Context, kubeconfig string) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return "", err
	}
	namespace, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx,
		metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return string(namespace.GetUID()), nil
}

// health asks API servers for their health, mostly the same one: it keeps the connection to the last.
type health struct {
	mu         sync.Mutex
	kubeconfig []byte
	client     *http.Client
	host       string
}

// ask returns why an API server does not answer that it is ready. An answer that refuses the caller is one, unless it
// does not know the credentials.
func (h *health) ask(ctx context.Context, kubeconfig string) error {
	client, host, err := h.open(kubeconfig)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(host, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		client.CloseIdleConnections() // this one may lead nowhere
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody)) // so that the connection can be used again
	if code := response.StatusCode; code == http.StatusUnauthorized || code >= http.StatusInternalServerError {
		return fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return nil
}

func (h *health) open(kubeconfig string) (*http.Client, string, error) {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil && bytes.Equal(content, h.kubeconfig) {
		return h.client, h.host, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, "", err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, "", err
	}
	if h.client != nil {
		h.client.CloseIdleConnections()
	}
	h.kubeconfig, h.client, h.host = content, client, config.Host
	return client, config.Host, nil
}
