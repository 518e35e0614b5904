// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// stageCall stands in for the call of piped that executes a stage.
type stageCall struct {
	grpc.ServerTransportStream
	trailer metadata.MD
}

func (s *stageCall) SetTrailer(md metadata.MD) error {
	s.trailer = metadata.Join(s.trailer, md)
	return nil
}

// given is the context of a stage with which piped gives faults.
func given(t *testing.T, all ...*deployment.ClusterFault) (context.Context, *stageCall) {
	t.Helper()
	for i, fault := range all {
		fault.Number, fault.Text = uint32(i), fmt.Sprintf("cluster: fault %d", i)
	}
	data, err := proto.Marshal(&deployment.ClusterFaults{Faults: all})
	require.NoError(t, err)
	call := &stageCall{}
	ctx := grpc.NewContextWithServerTransportStream(t.Context(), call)
	return metadata.NewIncomingContext(ctx, metadata.Pairs(givenKey, string(data))), call
}

// lines is a log.
type lines []string

func (l *lines) Infof(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// objects serves an API that has an object under each name.
func objects(t *testing.T) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind": "Thing", "apiVersion": "v1", "metadata": {"name": "x"}}`)
	}))
	t.Cleanup(server.Close)
	c, err := NewClient(&rest.Config{Host: server.URL}, "default")
	require.NoError(t, err)
	t.Cleanup(c.close)
	return c
}

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

func TestFaultsHappenInTheCallsThatTheyAreFor(t *testing.T) {
	t.Parallel()
	c, log := objects(t), &lines{}
	stage, call := given(t,
		&deployment.ClusterFault{Action: deployment.ClusterFault_ACTION_CONFLICT, Verb: "apply", Kind: "Deployment",
			Name: "web", Count: 2},
		&deployment.ClusterFault{Action: deployment.ClusterFault_ACTION_FORBIDDEN, Kind: "deployments", Count: 1},
		&deployment.ClusterFault{Action: deployment.ClusterFault_ACTION_DELAY, Verb: "get", Count: 1,
			Delay: durationpb.New(time.Millisecond)},
		&deployment.ClusterFault{Action: deployment.ClusterFault_ACTION_HANG, Verb: "delete", Count: 1})
	ctx, report := WithFaults(stage, log)
	web := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	apply := func(name string) error {
		_, err := c.Dynamic.Resource(deployments).Namespace("shop").Apply(ctx, name, web,
			metav1.ApplyOptions{FieldManager: "m"})
		return err
	}
	for range 2 {
		require.True(t, apierrors.IsConflict(apply("web")))
	}
	err := apply("other")
	require.True(t, apierrors.IsForbidden(err))
	require.ErrorContains(t, err, "fault injected: cluster: fault 1")
	require.NoError(t, apply("web"))
	_, err = c.Dynamic.Resource(deployments).Get(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	report()
	require.Equal(t, []string{"0,1,2"}, call.trailer.Get(happenedKey), "no call was for the last one")
	require.Equal(t, lines{
		"fault injected: cluster: fault 0, for: apply deployments web",
		"fault injected: cluster: fault 0, for: apply deployments web",
		"fault injected: cluster: fault 1, for: apply deployments other",
		"fault injected: cluster: fault 2, for: get deployments web",
	}, *log)
	short, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, c.Dynamic.Resource(deployments).Delete(short, "web", metav1.DeleteOptions{}), context.Canceled)
}

// An API that is unavailable for a moment is what the plugin outlasts.
func TestAStageOutlastsAnAPIThatIsUnavailableOnPurpose(t *testing.T) {
	t.Parallel()
	c, log := objects(t), &lines{}
	stage, _ := given(t, &deployment.ClusterFault{Action: deployment.ClusterFault_ACTION_UNAVAILABLE, Count: 3})
	ctx, _ := WithFaults(stage, log)
	again, report := WithFaults(ctx, nil)
	require.Equal(t, ctx, again, "it has them already")
	report()
	ctx, done := context.WithCancel(OutlastRestarts(ctx, log))
	defer done()
	_, err := c.Dynamic.Resource(deployments).Get(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	text := strings.Join(*log, "\n")
	require.Equal(t, 3, strings.Count(text, "fault injected: cluster: fault 0, for: get "))
	require.Contains(t, text, "refuses a request (503: fault injected: cluster: fault 0); trying again")
	require.Contains(t, text, "accepts requests again")
}

func TestAStageWithoutFaultsIsLeftAlone(t *testing.T) {
	t.Parallel()
	ctx, report := WithFaults(t.Context(), nil)
	require.Equal(t, t.Context(), ctx)
	report()
	broken := metadata.NewIncomingContext(t.Context(), metadata.Pairs(givenKey, "\xff"))
	ctx, _ = WithFaults(broken, nil)
	require.Equal(t, broken, ctx)
}

func TestRequestsAreReadAsCalls(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /api/v1/namespaces/shop/pods/web-1":                  "get pods web-1",
		"GET /api/v1/namespaces/shop/pods?watch=true":             "watch pods",
		"GET /prefix/api/v1/namespaces/shop/pods/web-1/log":       "get pods web-1",
		"GET /api/v1/namespaces/shop":                             "get namespaces shop",
		"GET /api/v1/namespaces":                                  "list namespaces",
		"GET /api/v1/nodes":                                       "list nodes",
		"GET /apis/apps/v1/deployments":                           "list deployments",
		"POST /apis/apps/v1/namespaces/shop/deployments":          "create deployments",
		"PUT /apis/apps/v1/namespaces/shop/deployments/web":       "update deployments web",
		"PATCH /apis/apps/v1/namespaces/shop/deployments/web":     "patch deployments web",
		"DELETE /apis/x.io/v1/namespaces/shop/networkpolicies/np": "delete networkpolicies np",
		"GET /readyz":       "get /readyz",
		"GET /api":          "get /api",
		"GET /apis/apps/v1": "get /apis/apps/v1",
	} {
		method, path, _ := strings.Cut(request, " ")
		require.Equal(t, want, callOf(httptest.NewRequest(method, path, nil)).String(), request)
	}
	for kind, resource := range map[string]string{
		"Deployment": "deployments", "NetworkPolicy": "networkpolicies", "Ingress": "ingresses",
		"Endpoints": "endpoints", "Gateway": "gateways", "configmaps": "configmaps",
	} {
		require.True(t, apiCall{resource: resource}.fits(&deployment.ClusterFault{Kind: kind}), kind)
	}
	require.False(t, apiCall{path: "/readyz"}.fits(&deployment.ClusterFault{Kind: "Pod"}))
}
