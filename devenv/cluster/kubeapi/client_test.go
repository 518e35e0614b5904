// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func encoded(kind string, content []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

// serve returns the kubeconfig of a server that wants a certificate of its clients.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(answer)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `
current-context: mine
contexts: [{name: other, context: {cluster: none}}, {name: mine, context: {cluster: c, user: u}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}},
  {name: c, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]
`, server.URL, encoded("CERTIFICATE", server.Certificate().Raw), encoded("CERTIFICATE", certificate),
		encoded("PRIVATE KEY", private)), 0o600))
	return path
}

func connect(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	client, err := Connect(serve(t, answer))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestAClusterIsAskedWithTheCertificateOfTheKubeconfig(t *testing.T) {
	t.Parallel()
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"metadata": {"uid": "`+r.Method+r.URL.Path+`"}}`)
	})
	identity, err := client.Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, "GET/api/v1/namespaces/kube-system", identity)
	require.NoError(t, client.Healthy(t.Context()))
}

func TestAnswersThatAreNoSuccessAreErrors(t *testing.T) {
	t.Parallel()
	code := http.StatusConflict
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		kind := r.Header.Get("Content-Type")
		if len(body) > 0 && (string(body) != `{"a":1}` || kind != "application/merge-patch+json") {
			code = http.StatusBadRequest
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"message": "it has changed"}`)
	})
	err := client.Patch(t.Context(), "/a", map[string]int{"a": 1})
	require.True(t, IsConflict(err))
	require.EqualError(t, err, client.Host+"/a answers 409 Conflict: it has changed")
	for answer, says := range map[int]string{
		http.StatusForbidden: "", http.StatusNotFound: "", http.StatusUnauthorized: "401 Unauthorized",
		http.StatusServiceUnavailable: "503 Service Unavailable",
	} {
		code = answer
		if says == "" {
			require.NoError(t, client.Healthy(t.Context()), answer)
			continue
		}
		require.EqualError(t, client.Healthy(t.Context()), client.Host+"/readyz answers "+says)
	}
}

func TestAWatchEndsWithTheServerOrWhenItIsDone(t *testing.T) {
	t.Parallel()
	client := connect(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"type": "ADDED", "object": 1}{"type": "DELETED", "object": 2}`)
	})
	var said []string
	done, err := client.Watch(t.Context(), "/a", nil, func(e Event) (bool, error) {
		said = append(said, e.Type+string(e.Object))
		return false, nil
	})
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, []string{"ADDED1", "DELETED2"}, said)
	done, err = client.Watch(t.Context(), "/a", nil, func(Event) (bool, error) { return true, nil })
	require.NoError(t, err)
	require.True(t, done)
}

func TestAKubeconfigWithoutAServerIsRefused(t *testing.T) {
	t.Parallel()
	for content, says := range map[string]string{
		"": "no current context", "clusters: 1": "read the kubeconfig",
		"current-context: a\ncontexts: [{name: a, context: {user: u}}]\n" +
			"users: [{name: u, user: {client-certificate-data: AA==}}]": "the client's certificate",
	} {
		_, err := Open([]byte(content))
		require.ErrorContains(t, err, says)
	}
	_, err := Connect(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
