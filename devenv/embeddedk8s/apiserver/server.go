// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/metricsapi"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/pki"
)

// Config says where the server listens and what it stands on.
type Config struct {
	// Listener accepts the server's connections; Run closes it. Opened by the caller so that the port is known, and
	// early callers queue instead of being refused, before the server runs.
	Listener net.Listener
	// EtcdEndpoint and Etcd are the same member. Objects go through Etcd; health checks and the numbers of node
	// ports go through the endpoint.
	EtcdEndpoint string
	Etcd         *clientv3.Client
	Files        pki.Files
	// Metrics is served besides Kubernetes' own groups.
	Metrics *metricsapi.API
}

// Run serves the Kubernetes API until ctx ends. It returns nil after an orderly stop.
func Run(ctx context.Context, config Config) error {
	completed, err := completeOptions(ctx, config)
	if err != nil {
		return err
	}
	serverConfig, err := app.NewConfig(completed)
	if err != nil {
		return fmt.Errorf("configure kube-apiserver: %w", err)
	}
	for _, name := range deferredHooks() {
		serverConfig.KubeAPIs.ControlPlane.Generic.DisabledPostStartHooks.Insert(name)
	}
	showVersion(serverConfig)
	stores := newStores(config.Etcd)
	defer stores.close()
	stores.use(serverConfig)
	completedConfig, err := serverConfig.Complete()
	if err != nil {
		return fmt.Errorf("complete kube-apiserver configuration: %w", err)
	}
	server, err := app.CreateServerChain(completedConfig)
	if err != nil {
		return fmt.Errorf("create kube-apiserver: %w", err)
	}
	keepOpenAPIRoot(server.GenericAPIServer)
	if err := config.Metrics.Install(server.GenericAPIServer); err != nil {
		return err
	}
	prepared, err := server.PrepareRun()
	if err != nil {
		return fmt.Errorf("prepare kube-apiserver: %w", err)
	}
	if err := prepared.Run(ctx); err != nil {
		return fmt.Errorf("run kube-apiserver: %w", err)
	}
	return nil
}

func completeOptions(ctx context.Context, config Config) (options.CompletedOptions, error) {
	run := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range run.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(arguments(config)); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("set kube-apiserver options: %w", err)
	}
	run.SecureServing.Listener = config.Listener
	if err := run.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("set kube-apiserver feature gates: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})

	completed, err := run.Complete(ctx)
	if err != nil {
		return options.CompletedOptions{}, fmt.Errorf("complete kube-apiserver options: %w", err)
	}
	if err := errors.Join(completed.Validate()...); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("check kube-apiserver options: %w", err)
	}
	return completed, nil
}

// arguments are the server's options as its own command line has them.
func arguments(config Config) []string {
	port := config.Listener.Addr().(*net.TCPAddr).Port
	files := config.Files
	return []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + files.Server.Cert,
		"--tls-private-key-file=" + files.Server.Key,
		"--client-ca-file=" + files.CA,

		"--etcd-servers=" + config.EtcdEndpoint,
		"--etcd-cafile=" + files.EtcdCA,
		"--etcd-certfile=" + files.EtcdClient.Cert,
		"--etcd-keyfile=" + files.EtcdClient.Key,

		"--kubelet-certificate-authority=" + files.CA,
		"--kubelet-client-certificate=" + files.KubeletClient.Cert,
		"--kubelet-client-key=" + files.KubeletClient.Key,
		// The kubelet listens where this server does, whatever name the node has.
		"--kubelet-preferred-address-types=InternalIP",

		"--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-signing-key-file=" + files.ServiceAccountKey,
		"--service-account-key-file=" + files.ServiceAccountKey,

		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		// Nothing here protects volumes from deletion once they are unused, so their finalizer would never go.
		"--disable-admission-plugins=StorageObjectInUseProtection",
		"--enable-priority-and-fairness=false",
		"--endpoint-reconciler-type=none",
		"--profiling=false",
		// There are no other servers to find or to be found by, which would take a write every few seconds.
		"--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false",
		// The type stores watches and compacts instead; no one reads the metrics.
		"--watch-cache=false",
		"--etcd-compaction-interval=0",
		"--etcd-count-metric-poll-period=0",
		"--etcd-db-metric-poll-interval=0",
	}
}
