// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// Class is the storage class whose claims are bound.
	Class = "standard"
	// Provisioner is its provisioner.
	Provisioner = "pipedeck.dev/directory"

	// A claim that cannot be written is tried again, first at once, then ever more seldom.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Config is what the controller stands on.
type Config struct {
	Client kubernetes.Interface
	// Informers is shared with the caller, who starts it after New.
	Informers informers.SharedInformerFactory
	// Dir holds a directory for each volume. It is created for its owner only.
	Dir string
}

// Controller binds claims. It is used once: New, start the informers, Run.
type Controller struct {
	config   Config
	claims   corelisters.PersistentVolumeClaimLister
	pods     corelisters.PodLister
	synced   []cache.InformerSynced
	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	events   record.EventBroadcaster
	recorder record.EventRecorder

	mu sync.Mutex
	// deleted are the UIDs of deleted claims whose volumes are still there.
	deleted map[types.NamespacedName][]types.UID
	// said is the last reason that an Event gave of a claim.
	said map[types.UID]string
}

// New registers what the controller needs with the shared informers.
func New(config Config) (*Controller, error) {
	core := config.Informers.Core().V1()
	events := record.NewBroadcaster()
	c := &Controller{
		config: config, claims: core.PersistentVolumeClaims().Lister(), pods: core.Pods().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry)),
		events:   events,
		recorder: events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: Provisioner}),
		deleted:  map[types.NamespacedName][]types.UID{}, said: map[types.UID]string{},
	}
	claims, err := core.PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(claim any) { c.queue.Add(nameOf(claim.(metav1.Object))) },
		UpdateFunc: func(_, claim any) { c.queue.Add(nameOf(claim.(metav1.Object))) },
		DeleteFunc: c.forget,
	})
	if err != nil {
		return nil, fmt.Errorf("watch claims: %w", err)
	}
	pods, err := core.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.lookAtClaimsOf, DeleteFunc: c.lookAtClaimsOf,
	})
	if err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	c.synced = []cache.InformerSynced{claims.HasSynced, pods.HasSynced}
	return c, nil
}

// lookAtClaimsOf has the claims of a pod looked at that has come or gone.
func (c *Controller) lookAtClaimsOf(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		for _, name := range claimsOf(pod) {
			c.queue.Add(name)
		}
	}
}

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func (c *Controller) forget(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return
	}
	name := nameOf(claim)
	c.mu.Lock()
	c.deleted[name] = append(c.deleted[name], claim.UID)
	delete(c.said, claim.UID)
	c.mu.Unlock()
	c.queue.Add(name)
}

// Run creates the class where it is missing, and looks after claims until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	defer c.queue.ShutDown()
	c.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.config.Client.CoreV1().Events("")})
	defer c.events.Shutdown()
	if err := os.MkdirAll(c.config.Dir, 0o700); err != nil {
		return fmt.Errorf("create the directory of volumes: %w", err)
	}
	if err := c.createClass(ctx); err != nil {
		return err
	}
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return nil
	}
	if err := c.sweep(ctx); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.queue.ShutDown)
	defer stop()
	for {
		name, shutdown := c.queue.Get()
		if shutdown {
			return nil
		}
		switch err := c.look(ctx, name); {
		case err == nil, ctx.Err() != nil:
			c.queue.Forget(name)
		default:
			if !apierrors.IsConflict(err) {
				klog.FromContext(ctx).Error(err, "Binding a claim failed, will try again", "claim", name)
			}
			c.queue.AddRateLimited(name)
		}
		c.queue.Done(name)
	}
}

func (c *Controller) createClass(ctx context.Context) error {
	late, deletes := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete
	_, err := c.config.Client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name: Class, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: Provisioner, VolumeBindingMode: &late, ReclaimPolicy: &deletes,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		return fmt.Errorf("create storage class %s: %w", Class, err)
	}
	return nil
}

// sweep removes the volumes of claims that were deleted while nothing looked after them.
func (c *Controller) sweep(ctx context.Context) error {
	claims, err := c.claims.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	there := map[string]bool{}
	for _, claim := range claims {
		there[VolumeName(claim.UID)] = true
	}
	volumes, err := c.config.Client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list volumes: %w", err)
	}
	for _, volume := range volumes.Items {
		if volume.Annotations[ProvisionedBy] == Provisioner && !there[volume.Name] {
			if err := c.removeVolume(ctx, volume.Name); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(c.config.Dir)
	if err != nil {
		return fmt.Errorf("look for the directories of deleted claims: %w", err)
	}
	for _, entry := range entries {
		if !there[entry.Name()] {
			if err := os.RemoveAll(filepath.Join(c.config.Dir, entry.Name())); err != nil {
				return fmt.Errorf("remove the directory of a deleted claim: %w", err)
			}
		}
	}
	return nil
}
