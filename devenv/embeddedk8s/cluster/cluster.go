// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/apiserver"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/claims"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/controllers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/etcd"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/metricsapi"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

// volumesDir holds the volumes of claims, below the data directory.
const volumesDir = "volumes"

// Events, in the order in which they come; Controllers and Bootstrap may change places.
const (
	EventKubeconfig  = "kubeconfig"  // the kubeconfig is written; requests queue from now on
	EventEtcd        = "etcd"        // etcd answers
	EventAPIServer   = "apiserver"   // kube-apiserver is starting
	EventReady       = "ready"       // /readyz is ok
	EventControllers = "controllers" // workloads are being looked after, the node is ready, kinds of routes are known
	EventBootstrap   = "bootstrap"   // default roles and priority classes are there
	EventStopping    = "stopping"    // the stop has begun
)

// How long the parts may take to stop. What is not done by then is cut off, which costs nothing: data is on disk
// already.
const (
	stopParts  = 1600 * time.Millisecond // pods have a second of it to end
	stopServer = 1300 * time.Millisecond // the API server takes a second to let go of its last connections
	stopEtcd   = 300 * time.Millisecond
)

// Config says where the cluster lives.
type Config struct {
	// DataDir is made, for its owner only, when it does not exist.
	DataDir string
	// Kubeconfig is the file to write, mode 0600, replaced atomically.
	Kubeconfig string
	// SecurePort is the API server's port; 0: the one of the last run if it is free, else any.
	SecurePort int
	NodeName   string
	// Programs is the file of the list of images that run as processes, see package programs; empty for none.
	Programs string
	// Progress is called with each event and the API server's URL, from several goroutines.
	Progress func(event, server string)
}

// Run runs the cluster until ctx ends, and returns nil then. It can be called once in a process.
func Run(ctx context.Context, config Config) error {
	if err := os.MkdirAll(config.DataDir, 0o700); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	release, err := lock(config.DataDir)
	if err != nil {
		return err
	}
	defer release()
	files, err := pki.Ensure(filepath.Join(config.DataDir, "pki"), time.Now())
	if err != nil {
		return err
	}
	listener, err := listen(config.DataDir, config.SecurePort)
	if err != nil {
		return err
	}
	defer listener.Close()
	server := "https://" + listener.Addr().String()
	if err := writeKubeconfig(config.Kubeconfig, config.NodeName, server, files); err != nil {
		return err
	}
	config.Progress(EventKubeconfig, server)

	store, err := etcd.Start(ctx, filepath.Join(config.DataDir, "etcd"), files)
	if err != nil {
		return err
	}
	defer within(stopEtcd, store.Close)
	config.Progress(EventEtcd, server)

	return runOn(ctx, config, store, listener, server, files)
}

// runOn runs everything that stands on etcd. Parts stop in the reverse order of their start, so that none of them sees
// another gone.
func runOn(
	ctx context.Context, config Config, store *etcd.Server, listener net.Listener, server string, files pki.Files,
) error {
	failed := make(chan error, 4) // one for each part
	metrics := newMetrics()
	serverCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan struct{})
	go func() {
		defer close(served)
		failed <- apiserver.Run(
			serverCtx, apiserver.Config{
				Listener: listener, EtcdEndpoint: store.Endpoint(), Etcd: store.Client(), Files: files,
				Metrics: metrics.api,
			},
		)
	}()
	defer within(stopServer, func() { stop(); <-served })
	config.Progress(EventAPIServer, server)

	partsCtx, cancelParts := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		failed <- runParts(partsCtx, config, server, files, metrics)
	}()
	defer within(stopParts, func() { cancelParts(); <-done })

	select {
	case <-ctx.Done():
		config.Progress(EventStopping, server)
		return nil
	case err := <-failed:
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("a part of the cluster stopped: %w", err)
	case err := <-store.Err():
		return fmt.Errorf("etcd failed: %w", err)
	}
}

// runParts runs what speaks to the API server, from its being ready until ctx ends.
func runParts(ctx context.Context, config Config, server string, files pki.Files, metrics metrics) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := apiserver.WaitReady(ctx, server, files); err != nil {
		return err
	}
	config.Progress(EventReady, server)

	restConfig := administrator(server, files)
	client, err := kubernetes.NewForConfig(restConfig)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	rootCA, err := os.ReadFile(files.CA)
	if err != nil {
		return fmt.Errorf("read authority: %w", err)
	}
	shared := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(trim))
	set, err := controllers.New(ctx, controllers.Config{
		Client: restConfig, Informers: shared, RootCA: rootCA, ServiceAccountKey: files.ServiceAccountKey,
		Meter: metrics.meter, Simulated: config.Programs == "",
	})
	if err != nil {
		return err
	}
	node, err := newNode(config, client, restConfig, shared, files)
	if err != nil {
		return err
	}
	volumes, err := claims.New(claims.Config{
		Client: client, Informers: shared, Dir: filepath.Join(config.DataDir, volumesDir),
	})
	if err != nil {
		return err
	}
	metrics.attach(node.kubelet, shared)
	shared.Start(ctx.Done())
	defer shared.Shutdown()

	parts := make(chan error, 5)
	go func() { parts <- metricsapi.Register(ctx, client) }()
	go func() { set.Run(ctx); parts <- nil }()
	go func() { parts <- volumes.Run(ctx) }()
	go func() { parts <- node.run(ctx, func() { config.Progress(EventControllers, server) }) }()
	go func() { parts <- bootstrap(ctx, config, restConfig, server) }()
	var problem error
	for range cap(parts) {
		if err := <-parts; err != nil && problem == nil {
			problem = err
			cancel()
		}
	}
	return problem
}

// administrator is the configuration of the cluster's own clients.
func administrator(server string, files pki.Files) *rest.Config {
	return &rest.Config{
		Host:            server,
		TLSClientConfig: rest.TLSClientConfig{CAFile: files.CA, CertFile: files.Admin.Cert, KeyFile: files.Admin.Key},
		ContentConfig: rest.ContentConfig{
			ContentType:        runtime.ContentTypeProtobuf,
			AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json",
		},
		UserAgent: "embeddedk8s",
		QPS:       -1, // no limit: client and server share one processor anyway
	}
}

func bootstrap(ctx context.Context, config Config, client *rest.Config, server string) error {
	if err := apiserver.Bootstrap(ctx, client); err != nil {
		return err
	}
	if ctx.Err() == nil {
		config.Progress(EventBootstrap, server)
	}
	return nil
}

// trim drops from cached objects what no controller reads, and what makes up half of their size.
func trim(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// within calls stop and waits for it, but not longer than limit.
func within(limit time.Duration, stop func()) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-stopped:
	case <-timer.C:
	}
}
