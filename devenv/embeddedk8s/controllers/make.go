// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	rootcacertpublisher "k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/absent"
)

// How many objects of one kind a controller works on at the same time. kube-controller-manager's defaults, where it has
// them.
const (
	workers          = 5
	namespaceWorkers = 10
	garbageWorkers   = 20
)

const (
	// Dependants of a custom kind are collected from then on, after the kind was defined; kube-controller-manager takes
	// 30 seconds.
	garbagePeriod   = 5 * time.Second
	namespaceResync = 5 * time.Minute
	daemonBackOff   = 15 * time.Minute
	sliceCapacity   = 100
)

// maker constructs controllers from the things they share.
type maker struct {
	config    Config
	client    kubernetes.Interface
	metadata  metadata.Interface
	kinds     *kinds
	informers informers.SharedInformerFactory
	// all are the informers above and, for kinds without a Go type, informers of metadata only. started is closed once
	// they run.
	all     informerfactory.InformerFactory
	started chan struct{}
}

func (m *maker) serviceAccounts(ctx context.Context) ([]loop, error) {
	accounts, err := serviceaccountcontroller.NewServiceAccountsController(klog.FromContext(ctx),
		m.informers.Core().V1().ServiceAccounts(), m.informers.Core().V1().Namespaces(), m.client,
		serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, fmt.Errorf("create service account controller: %w", err)
	}
	key, err := keyutil.PrivateKeyFromFile(m.config.ServiceAccountKey)
	if err != nil {
		return nil, fmt.Errorf("read service account key: %w", err)
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, key)
	if err != nil {
		return nil, fmt.Errorf("use service account key: %w", err)
	}
	tokens, err := serviceaccountcontroller.NewTokensController(klog.FromContext(ctx),
		m.informers.Core().V1().ServiceAccounts(), m.informers.Core().V1().Secrets(), m.client,
		serviceaccountcontroller.TokensControllerOptions{TokenGenerator: generator, RootCA: m.config.RootCA})
	if err != nil {
		return nil, fmt.Errorf("create token controller: %w", err)
	}
	return []loop{
		{"service-account", func(ctx context.Context) { accounts.Run(ctx, 1) }},
		{"service-account-token", func(ctx context.Context) { tokens.Run(ctx, workers) }},
	}, nil
}

func (m *maker) namespaces(ctx context.Context) ([]loop, error) {
	namespaces := namespace.NewNamespaceController(
		ctx, m.client, m.metadata, m.client.Discovery().ServerPreferredNamespacedResources,
		m.informers.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes,
	)
	publisher, err := rootcacertpublisher.NewPublisher(
		m.informers.Core().V1().ConfigMaps(), m.informers.Core().V1().Namespaces(), m.client, m.config.RootCA,
	)
	if err != nil {
		return nil, fmt.Errorf("create root CA publisher: %w", err)
	}
	return []loop{
		{"namespace", func(ctx context.Context) { namespaces.Run(ctx, namespaceWorkers) }},
		{"root-ca-publisher", func(ctx context.Context) { publisher.Run(ctx, 1) }},
	}, nil
}

func (m *maker) workloads(ctx context.Context) ([]loop, error) {
	apps, pods := m.informers.Apps().V1(), m.informers.Core().V1().Pods()
	deployments, deploymentErr := deployment.NewDeploymentController(
		ctx, apps.Deployments(), apps.ReplicaSets(), pods, m.client,
	)
	daemons, daemonErr := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), pods,
		m.informers.Core().V1().Nodes(), m.client, flowcontrol.NewBackOff(time.Second, daemonBackOff))
	if err := errors.Join(deploymentErr, daemonErr); err != nil {
		return nil, fmt.Errorf("create workload controllers: %w", err)
	}
	replicas := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), pods, m.client, replicaset.BurstReplicas)
	replications := replication.NewReplicationManager(
		ctx, pods, m.informers.Core().V1().ReplicationControllers(), m.client, replication.BurstReplicas,
	)
	stateful := statefulset.NewStatefulSetController(ctx, pods, apps.StatefulSets(),
		m.informers.Core().V1().PersistentVolumeClaims(), apps.ControllerRevisions(), m.client)
	return []loop{
		{"deployment", func(ctx context.Context) { deployments.Run(ctx, workers) }},
		{"replicaset", func(ctx context.Context) { replicas.Run(ctx, workers) }},
		{"replicationcontroller", func(ctx context.Context) { replications.Run(ctx, workers) }},
		{"statefulset", func(ctx context.Context) { stateful.Run(ctx, workers) }},
		{"daemonset", func(ctx context.Context) { daemons.Run(ctx, workers) }},
	}, nil
}

func (m *maker) batch(ctx context.Context) ([]loop, error) {
	jobs, jobErr := job.NewController(
		ctx, m.client, m.informers.Core().V1().Pods(), m.informers.Batch().V1().Jobs(), nil, nil,
	)
	cronJobs, cronErr := cronjob.NewControllerV2(
		ctx, m.informers.Batch().V1().Jobs(), m.informers.Batch().V1().CronJobs(), m.client,
	)
	if err := errors.Join(jobErr, cronErr); err != nil {
		return nil, fmt.Errorf("create job controllers: %w", err)
	}
	finished := ttlafterfinished.New(ctx, m.informers.Batch().V1().Jobs(), m.client)
	return []loop{
		{"job", func(ctx context.Context) { jobs.Run(ctx, workers) }},
		{"cronjob", func(ctx context.Context) { cronJobs.Run(ctx, workers) }},
		{"ttl-after-finished", func(ctx context.Context) { finished.Run(ctx, workers) }},
	}, nil
}

func (m *maker) network(ctx context.Context) ([]loop, error) {
	core := m.informers.Core().V1()
	slices := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(),
		m.informers.Discovery().V1().EndpointSlices(), sliceCapacity, m.client, 0)
	return []loop{{"endpointslice", func(ctx context.Context) { slices.Run(ctx, workers) }}}, nil
}

func (m *maker) policy(ctx context.Context) ([]loop, error) {
	scales, err := m.scales()
	if err != nil {
		return nil, err
	}
	core, apps := m.informers.Core().V1(), m.informers.Apps().V1()
	budgets := disruption.NewDisruptionController(ctx, core.Pods(), m.informers.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(),
		m.client, m.kinds.mapper, scales, m.kinds)
	roles := clusterroleaggregation.NewClusterRoleAggregation(m.informers.Rbac().V1().ClusterRoles(), m.client.RbacV1())
	return []loop{
		{"disruption", budgets.Run},
		{"clusterrole-aggregation", func(ctx context.Context) { roles.Run(ctx, workers) }},
	}, nil
}

func (m *maker) absent(context.Context) ([]loop, error) {
	reporter, err := absent.New(m.client, m.all, m.config.Simulated)
	if err != nil {
		return nil, err
	}
	return []loop{{"absent", reporter.Run}}, nil
}

func (m *maker) garbage(ctx context.Context) ([]loop, error) {
	graph := garbagecollector.NewDependencyGraphBuilder(
		ctx, m.metadata, m.kinds.mapper, garbagecollector.DefaultIgnoredResources(), m.all, m.started,
	)
	collector, err := garbagecollector.NewComposedGarbageCollector(ctx, m.client, m.metadata, m.kinds.mapper, graph)
	if err != nil {
		return nil, fmt.Errorf("create garbage collector: %w", err)
	}
	return []loop{
		{"garbage-collector", func(ctx context.Context) { collector.Run(ctx, garbageWorkers, garbagePeriod) }},
		{
			"garbage-collector-kinds",
			func(ctx context.Context) { collector.Sync(ctx, m.kinds, garbagePeriod) },
		},
	}, nil
}
