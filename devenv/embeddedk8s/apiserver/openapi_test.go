// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheListOfDocumentsIsMadeOnce(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	ready := false
	kept := &keptRoot{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.Method+" "+r.URL.Path]++
		if !ready {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "answer")
	})}
	ask := func(method, path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		kept.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
		return answer
	}
	require.Equal(t, http.StatusServiceUnavailable, ask("GET", "/openapi/v3").Code, "a failure is not kept")
	ready = true
	for range 3 {
		answer := ask("GET", "/openapi/v3")
		require.Equal(t, http.StatusOK, answer.Code)
		require.Equal(t, "answer", answer.Body.String())
		ask("GET", "/openapi/v3/api/v1")
		ask("DELETE", "/openapi/v3")
	}
	require.Equal(t, map[string]int{"GET /openapi/v3": 2, "GET /openapi/v3/api/v1": 3, "DELETE /openapi/v3": 3}, asked)
}
