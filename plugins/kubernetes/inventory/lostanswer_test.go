// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

type silent struct{}

func (silent) Infof(string, ...any)    {}
func (silent) Successf(string, ...any) {}
func (silent) Errorf(string, ...any)   {}

func TestADeleteWhoseAnswerIsLostIsSentAgain(t *testing.T) {
	t.Parallel()
	var deletes atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method != http.MethodDelete:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		case deletes.Add(1) == 1: // the API server is restarted just then
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		default:
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
		}
	}))
	t.Cleanup(api.Close)
	c, err := cluster.NewClient(&rest.Config{Host: api.URL}, "default")
	require.NoError(t, err)
	item := inventory.Item{Key: manifest.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"},
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		Meta:     metav1.ObjectMeta{Name: "a", Namespace: "default", UID: "u"}}
	done, err := inventory.Delete(t.Context(), c, []inventory.Item{item}, silent{})
	require.NoError(t, err)
	require.Equal(t, inventory.Deleted{Gone: 1}, done)
	require.Equal(t, int32(2), deletes.Load())
}
