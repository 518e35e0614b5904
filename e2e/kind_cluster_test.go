// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// kindProgram is what runs in the containers of the shared cluster. It serves, and names its version and pod; with an
// argument it migrates. LIMIT is how many requests it answers: the next one ends it with all that are under way.
// With ABORT it breaks the connection of each request, and is ready all the while.
const kindProgram = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		migrate(os.Args[1])
		return
	}
	limit, _ := strconv.ParseInt(os.Getenv("LIMIT"), 10, 64)
	var asked atomic.Int64
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		if os.Getenv("ABORT") != "" {
			panic(http.ErrAbortHandler)
		}
		if limit > 0 && asked.Add(1) > limit {
			fmt.Println("the ledger is full")
			os.Exit(7)
		}
		fmt.Fprintf(w, "(version %s, pod %s)\n", os.Getenv("VERSION"), os.Getenv("HOSTNAME"))
	})
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Addr: ":8080"}
	ended := make(chan struct{})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		defer close(ended)
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	fmt.Println(server.ListenAndServe())
	<-ended
}

func migrate(to string) {
	fmt.Println("applying", to)
	time.Sleep(2 * time.Second)
	if os.Getenv("BROKEN") != "" {
		fmt.Println("relation orders does not exist")
		os.Exit(3)
	}
	fmt.Println("applied", to)
}
`

// kindDeployment runs kindProgram.
const kindDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
spec:
  replicas: 1
  minReadySeconds: 0
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers:
        - name: main
          image: pipedeck.dev/program:v1
          ports: [{name: http, containerPort: 8080}]
          env: [{name: VERSION, value: v1}, {name: LIMIT, value: "0"}, {name: ABORT, value: ""}]
          readinessProbe: {httpGet: {path: /healthz, port: http}, periodSeconds: 1}
`

// kindApplication are the files of an application that serves, in one pod.
func kindApplication(name, more string) map[string]string {
	return map[string]string{
		name + "/app.pipecd.yaml": application(name, more),
		name + "/deployment.yaml": strings.ReplaceAll(kindDeployment, "NAME", name),
		name + "/service.yaml":    service(name),
	}
}

// maxLogs is how many lines of stages explain a failure.
const maxLogs = 200

// sharedCluster is an environment on a kind cluster for several stories at once. Each has its own applications in the
// one repository.
type sharedCluster struct {
	dir string
	// committing is held while a story changes the repository.
	committing sync.Mutex
	stream     *stream
}

// tenant is a story on the shared cluster.
type tenant struct {
	*environment
	cluster *sharedCluster
	objects dynamic.Interface
}

// kindStory has the files that it needs in the first commit.
type kindStory struct {
	files map[string]string
	run   func(*tenant)
}

func TestKindStoriesOnOneCluster(t *testing.T) {
	t.Parallel()
	stories := map[string]kindStory{
		"phases": phasesStory(), "superseding": supersedingStory(), "releases": releasesStory(),
		"removal": removalStory(), "requests": requestsStory(),
	}
	files := map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "program/main.go": kindProgram}
	for _, story := range stories {
		maps.Copy(files, story.files)
	}
	e := onKind(t)
	shared := &sharedCluster{dir: repository(t, files)}
	shared.stream = e.start(kind("up", shared.dir, "--cluster", "kind")...)
	t.Run("at once", func(t *testing.T) {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				story.run(shared.tenant(t, e))
			})
		}
	})
	require.Zero(t, e.pipedeck("down").Code)
	shared.stream.wait()
	e.leavesNothing()
	require.Empty(t, e.containers(), "down leaves no container")
}

func (c *sharedCluster) tenant(t *testing.T, e *environment) *tenant {
	t.Helper()
	tenant := &tenant{environment: &environment{t: t, Environment: e.Environment}, cluster: c}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what stages have logged:\n%s", c.stream.logs(maxLogs))
		}
	})
	tenant.await("the cluster is ready", func(e event) bool {
		return e.is("component", "name", "kubernetes", "state", "READY")
	})
	config, err := clientcmd.BuildConfigFromFlags("", e.Dir("kubeconfig"))
	require.NoError(t, err)
	tenant.objects, err = dynamic.NewForConfig(config)
	require.NoError(t, err)
	return tenant
}

// await returns the first event of the environment, old or new, that matches.
func (c *tenant) await(what string, match func(event) bool) event {
	c.t.Helper()
	return c.cluster.stream.awaitFor(c.t, what, match)
}

// change edits the repository and returns the commit.
func (c *tenant) change(message string, edit func(dir string)) string {
	c.t.Helper()
	c.cluster.committing.Lock()
	defer c.cluster.committing.Unlock()
	edit(c.cluster.dir)
	return gittest.Commit(c.t, c.cluster.dir, message)
}

// replace changes text in a file of the repository and returns the commit.
func (c *tenant) replace(file string, oldnew ...string) string {
	c.t.Helper()
	return c.change("Change "+file, func(dir string) {
		for i := 0; i < len(oldnew); i += 2 {
			replaceIn(c.t, filepath.Join(dir, file), oldnew[i], oldnew[i+1])
		}
	})
}

// app is an application as the environment lists it; nil is none.
func (c *tenant) app(name string) map[string]any {
	c.t.Helper()
	for _, app := range c.list("apps") {
		if app["name"] == name {
			return app
		}
	}
	return nil
}

// seeing waits until versions answer at an address, all of them and no others.
func (c *tenant) seeing(url string, wanted ...string) {
	c.t.Helper()
	waitUntil(c.t, strings.Join(wanted, " and ")+" to answer", func() bool {
		return slices.Equal(wanted, slices.Sorted(maps.Keys(versions(url, 20))))
	})
}

var (
	kindDeployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	kindReplicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	kindJobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	kindPods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	kindServices    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	kindConfigMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// object reads an object of the namespace default; nil is none.
func (c *tenant) object(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	c.t.Helper()
	object, err := c.objects.Resource(resource).Namespace("default").Get(c.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(c.t, err)
	return object
}

// listed reads the objects with the label app.
func listed[T any](c *tenant, resource schema.GroupVersionResource, app string) []T {
	c.t.Helper()
	list, err := c.objects.Resource(resource).Namespace("default").List(c.t.Context(),
		metav1.ListOptions{LabelSelector: "app=" + app})
	require.NoError(c.t, err)
	all := make([]T, len(list.Items))
	for i, item := range list.Items {
		require.NoError(c.t, runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &all[i]))
	}
	return all
}

// saysOf matches the log of a deployment.
func saysOf(deployment event, part string) func(event) bool {
	return func(e event) bool { return e["deployment"] == deployment["id"] && logged(part)(e) }
}

// logs are the last lines of the stages' logs.
func (s *stream) logs(most int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, e := range s.events {
		if e.is("log") {
			lines = append(lines, fmt.Sprint(e["time"], " ", e["deployment"], " ", e["stage_name"], ": ", e["text"]))
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
