// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const webhookDead = "conversion webhook for example.com/v1, Kind=Widget failed: dial tcp 127.0.0.1:1: connect: " +
	"connection refused"

// unlisted is an answer to each list of a resource.
type unlisted struct {
	// group is the beginning of the path of its API.
	group, resource, reason, message string
	code                             int
}

// newAppWhereListsFail is an application in a cluster that cannot list one kind while there is an answer.
func newAppWhereListsFail(t *testing.T) (*app, *atomic.Pointer[unlisted]) {
	t.Helper()
	var answer atomic.Pointer[unlisted]
	return newAppAt(t, inFront(t, func(proxy http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			one := answer.Load()
			if one == nil || req.Method != http.MethodGet || !strings.HasPrefix(req.URL.Path, one.group) ||
				!strings.HasSuffix(req.URL.Path, "/"+one.resource) {
				proxy.ServeHTTP(rw, req)
				return
			}
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(one.code)
			fmt.Fprintf(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`,
				one.code, one.reason, one.message)
		})
	})), &answer
}

// newAppWithWidgets is one with a kind that can be listed until fail is called: the webhook that converts its objects
// is dead then.
func newAppWithWidgets(t *testing.T) (a *app, w widgets, fail func()) {
	t.Helper()
	a, answer := newAppWhereListsFail(t)
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
	return a, w, func() {
		answer.Store(&unlisted{group: "/apis/" + w.group, resource: "widgets", code: http.StatusInternalServerError,
			message: webhookDead})
	}
}

func TestAForeignKindThatCannotBeListedHoldsNoPruneRollbackOrRemovalUp(t *testing.T) {
	t.Parallel()
	a, w, fail := newAppWithWidgets(t)
	fail()
	// Kinds of other tests may come and go in the same cluster.
	said := regexp.MustCompile("These kinds could not be looked at, and objects of them that Git does not name are " +
		"left alone: .*" + regexp.QuoteMeta(w.name()+" ("+webhookDead+")"))
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a"), "b.yaml": configMap("b")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("a"), "c.yaml": configMap("c")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	require.Regexp(t, said, a.succeeds("K8S_SYNC", `{"prune": true}`, two, one))
	a.absent(configMaps, "b")
	require.Regexp(t, said, a.succeeds("K8S_ROLLBACK", "", two, one))
	a.absent(configMaps, "c")
	require.Regexp(t, said, a.succeeds("K8S_REMOVE", "", one, nil))
	a.absent(configMaps, "a")
}

func TestARemovalFailsWhenAKindThatTheApplicationHasInGitCannotBeListed(t *testing.T) {
	t.Parallel()
	a, answer := newAppWhereListsFail(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a"), "b.yaml": configMap("b")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("a")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.succeeds("K8S_SYNC", "", two, one) // without pruning, so that only its labels say whose b is
	answer.Store(&unlisted{resource: "configmaps", code: http.StatusForbidden, reason: "Forbidden", message: "no"})
	log := a.fails("K8S_REMOVE", "", two, nil)
	require.Contains(t, log, "configmaps (the credentials of the deploy target may not list it)")
	require.Contains(t, log, "next step: let the credentials of the deploy target list what is named above, then run: "+
		"pipedeck remove demo --cascade; or leave what still runs: pipedeck remove demo --orphan")
	a.get(configMaps, "a")
	answer.Store(nil)
	log = a.succeeds("K8S_REMOVE", "", two, nil)
	require.Contains(t, log, "2 resources deleted")
	require.NotContains(t, log, "may be left")
	a.absent(configMaps, "b")
}

func TestARemovalSaysWhichKindsMayHaveObjectsLeft(t *testing.T) {
	t.Parallel()
	a, w, fail := newAppWithWidgets(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("a"),
		"w.yaml": "apiVersion: " + w.group + "/v1\nkind: Widget\nmetadata: {name: one}\n"}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("a")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	fail()
	log := a.fails("K8S_REMOVE", "", one, nil)
	require.Contains(t, log, w.name()+" ("+webhookDead+")")
	require.Contains(t, log, "next step: have the API answer for what is named above, then run: pipedeck remove demo")
	a.get(configMaps, "a")
	a.succeeds("K8S_SYNC", "", two, one)
	for _, deleted := range []string{"1 resource deleted", "Nothing to delete"} {
		log = a.succeeds("K8S_REMOVE", "", two, nil)
		require.Contains(t, log, deleted)
		require.Regexp(t, "Objects of these kinds may be left, because they could not be looked at: .*"+w.name(), log)
		require.Regexp(t, `next step: look for them, and delete them by hand: kubectl get \S*`+w.name()+
			`\S* -A -l pipecd.dev/application=`+a.id+",pipecd.dev/managed-by=piped", log)
	}
}
