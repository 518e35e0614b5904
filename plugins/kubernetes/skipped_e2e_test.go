// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const webhookDead = "conversion webhook for example.com/v1, Kind=Widget failed: dial tcp 127.0.0.1:1: connect: " +
	"connection refused"

// newAppWhereWidgetsFail is an application in a cluster that cannot list one kind, as when the webhook that converts
// its objects is dead. Someone else has the kind.
func newAppWhereWidgetsFail(t *testing.T) (*app, widgets) {
	t.Helper()
	var w widgets
	a := newAppAt(t, inFront(t, func(proxy http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			if req.Method != http.MethodGet || !strings.HasPrefix(req.URL.Path, "/apis/"+w.group+"/v1/") {
				proxy.ServeHTTP(rw, req)
				return
			}
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":%q}`,
				webhookDead)
		})
	}))
	w = newWidgets(a)
	definition := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(w.definition()), &definition.Object))
	_, err := a.live().Dynamic.Resource(crds).Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)
	a.waitUntil("the kind is served", func() bool {
		a.live().Discovery.Invalidate()
		_, err := a.live().Discovery.ServerResourcesForGroupVersion(w.group + "/v1")
		return err == nil
	})
	return a, w
}

func TestAForeignKindThatCannotBeListedHoldsNoPruneRollbackOrRemovalUp(t *testing.T) {
	t.Parallel()
	a, w := newAppWhereWidgetsFail(t)
	said := "These kinds could not be looked at, and objects of them that Git does not name are left alone: " +
		w.name() + " (" + webhookDead + ")"
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a"), "b.yaml": configMap("b")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("a"), "c.yaml": configMap("c")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	require.Contains(t, a.succeeds("K8S_SYNC", `{"prune": true}`, two, one), said)
	a.absent(configMaps, "b")
	require.Contains(t, a.succeeds("K8S_ROLLBACK", "", two, one), said)
	a.absent(configMaps, "c")
	require.Contains(t, a.succeeds("K8S_REMOVE", "", one, nil), said)
	a.absent(configMaps, "a")
}
