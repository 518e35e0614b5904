// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// lines keeps the lines of information of a log.
type lines struct {
	sdk.StageLog
	all []string
}

func (l *lines) Infof(format string, args ...any) {
	l.all = append(l.all, fmt.Sprintf(format, args...))
}

func TestARemovalNamesEveryKindThatItLeavesAlone(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		refuse := func(code int, reason string) {
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q}`, code, reason)
		}
		switch path := r.URL.Path; {
		case path == "/api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case path == "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		case path == "/api/v1":
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
				{"name":"olds","namespaced":true,"kind":"Old","verbs":["list","delete"]},
				{"name":"secrets","namespaced":true,"kind":"Secret","verbs":["list","delete"]}]}`)
		case strings.HasSuffix(path, "/olds"):
			refuse(http.StatusMethodNotAllowed, "MethodNotAllowed")
		case strings.HasSuffix(path, "/secrets"):
			refuse(http.StatusForbidden, "Forbidden")
		default:
			refuse(http.StatusNotFound, "NotFound")
		}
	}))
	t.Cleanup(api.Close)
	c, err := cluster.NewClient(&rest.Config{Host: api.URL}, "default")
	require.NoError(t, err)
	log := &lines{}
	req := &Request{Log: log, Deployment: &sdk.Deployment{}}
	r := &removal{hooks: &hooks{req: req, client: c, source: &Source{}}}
	_, err = r.resources(t.Context())
	require.NoError(t, err)
	require.Len(t, log.all, 1)
	require.Contains(t, log.all[0], "left alone: olds, secrets")
}
