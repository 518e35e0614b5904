// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// The gRPC metadata with faults, and of the answer with those that have happened.
const (
	givenKey    = "pipedeck-cluster-faults-bin"
	happenedKey = "pipedeck-cluster-faults"
	// injected begins what is said about a fault.
	injected = "fault injected: "
)

type faultsKey struct{}

// faults are those of one stage.
type faults struct {
	log Log

	mu sync.Mutex
	// waiting is what has not happened yet; Count is what is left of each.
	waiting []*deployment.ClusterFault
	// begun are the numbers of those that have happened at least once.
	begun []string
}

// WithFaults has the faults happen in requests under the returned context that piped gave with the stage of ctx. log
// gets a line about each. The caller calls report at the end of the stage, so that piped knows what has happened. A
// context that has them already stays as it is.
func WithFaults(ctx context.Context, log Log) (_ context.Context, report func()) {
	given, _ := metadata.FromIncomingContext(ctx)
	message := &deployment.ClusterFaults{}
	if values := given.Get(givenKey); len(values) != 1 || proto.Unmarshal([]byte(values[0]), message) != nil ||
		ctx.Value(faultsKey{}) != nil {
		return ctx, func() {}
	}
	f := &faults{log: log, waiting: message.GetFaults()}
	return context.WithValue(ctx, faultsKey{}, f), func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		_ = grpc.SetTrailer(ctx, metadata.Pairs(happenedKey, strings.Join(f.begun, ","))) // fails in tests without gRPC
	}
}

// next takes what happens to a call; nil for nothing.
func (f *faults) next(c apiCall) *deployment.ClusterFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.waiting, c.fits)
	if at < 0 {
		return nil
	}
	one := f.waiting[at]
	if number := strconv.Itoa(int(one.GetNumber())); !slices.Contains(f.begun, number) {
		f.begun = append(f.begun, number)
	}
	if one.Count--; one.Count == 0 || one.Count > maxCount {
		f.waiting = slices.Delete(f.waiting, at, at+1)
	}
	return one
}

// maxCount is more than piped lets a user ask for.
const maxCount = 1 << 30

// faulty is the transport that has faults happen.
type faulty struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = (*faulty)(nil)

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (t *faulty) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *faulty) RoundTrip(req *http.Request) (*http.Response, error) {
	f, _ := req.Context().Value(faultsKey{}).(*faults)
	if f == nil {
		return t.next.RoundTrip(req)
	}
	call := callOf(req)
	fault := f.next(call)
	if fault == nil {
		return t.next.RoundTrip(req)
	}
	f.log.Infof("%s%s, for: %s", injected, fault.GetText(), call)
	switch fault.GetAction() {
	case deployment.ClusterFault_ACTION_DELAY:
		if !sleep(req.Context(), req.Context(), fault.GetDelay().AsDuration()) {
			return refused(req)
		}
	case deployment.ClusterFault_ACTION_HANG:
		<-req.Context().Done()
		return refused(req)
	case deployment.ClusterFault_ACTION_UNAVAILABLE:
		return answer(req, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, fault), nil
	case deployment.ClusterFault_ACTION_FORBIDDEN:
		return answer(req, http.StatusForbidden, metav1.StatusReasonForbidden, fault), nil
	case deployment.ClusterFault_ACTION_CONFLICT:
		return answer(req, http.StatusConflict, metav1.StatusReasonConflict, fault), nil
	}
	return t.next.RoundTrip(req)
}

// refused is the end of a request whose context has ended.
func refused(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return nil, req.Context().Err()
}

// answer is what a request gets in place of the answer of the API.
func answer(req *http.Request, code int32, reason metav1.StatusReason, fault *deployment.ClusterFault) *http.Response {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	body, _ := json.Marshal(metav1.Status{ // plain fields, which never fail
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: injected + fault.GetText(),
	})
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(int(code))), StatusCode: int(code), Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}},
		Body:   io.NopCloser(bytes.NewReader(body)),
	}
}

// apiCall is a request as rules name it. A request for no object has a path in place of the resource.
type apiCall struct{ verb, resource, name, path string }

func (c apiCall) String() string {
	return strings.TrimSpace(c.verb + " " + cmp.Or(c.resource, c.path) + " " + c.name)
}

// fits reports whether a fault is for the call.
func (c apiCall) fits(f *deployment.ClusterFault) bool {
	kind := strings.ToLower(f.GetKind())
	return (f.GetVerb() == "" || f.GetVerb() == c.verb) && (f.GetName() == "" || f.GetName() == c.name) &&
		(kind == "" || kind == c.resource || c.resource != "" && plural(kind) == c.resource)
}

// plural is the resource of a kind, as the API names those of Kubernetes.
func plural(kind string) string {
	switch {
	case kind == "endpoints":
		return kind
	case strings.HasSuffix(kind, "s"), strings.HasSuffix(kind, "x"), strings.HasSuffix(kind, "ch"):
		return kind + "es"
	case strings.HasSuffix(kind, "y") && !strings.HasSuffix(kind, "ey") && !strings.HasSuffix(kind, "ay"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}

// callOf reads a request: /api/VERSION or /apis/GROUP/VERSION, then namespaces/NAMESPACE for most, then RESOURCE and
// NAME.
func callOf(req *http.Request) apiCall {
	c := apiCall{verb: verbOf(req), path: req.URL.Path}
	_, rest, found := strings.Cut(req.URL.Path, "/api/")
	skip := 1
	if !found {
		_, rest, found = strings.Cut(req.URL.Path, "/apis/")
		skip = 2
	}
	parts := strings.Split(rest, "/")
	if !found || len(parts) <= skip {
		return c
	}
	if parts = parts[skip:]; parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	if c.resource = parts[0]; len(parts) > 1 {
		c.name = parts[1]
	}
	if c.verb == "get" && c.name == "" {
		c.verb = "list"
	}
	return c
}

func verbOf(req *http.Request) string {
	switch req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		return "delete"
	case http.MethodPatch:
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch+") {
			return "apply"
		}
		return "patch"
	}
	if watch, _ := strconv.ParseBool(req.URL.Query().Get("watch")); watch {
		return "watch"
	}
	return "get"
}
