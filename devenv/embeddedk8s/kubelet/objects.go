// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/claims"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

// objects gives pods what they refer to, always as it is now: a pod that starts must see a change that was made just
// before it was created.
type objects struct {
	client kubernetes.Interface
	// volumes is the directory of the volumes of claims.
	volumes string
}

var _ localpods.Objects = objects{}

// ConfigMap implements localpods.Objects.
func (o objects) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return o.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Secret implements localpods.Objects.
func (o objects) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return o.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

// ClaimDirectory implements localpods.Objects.
func (o objects) ClaimDirectory(ctx context.Context, namespace, name string) (string, error) {
	claim, err := o.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	dir, err := claims.Directory(claim)
	return filepath.Join(o.volumes, dir), err
}

// Token implements localpods.Objects.
func (o objects) Token(ctx context.Context, pod *corev1.Pod, audience string, seconds int64) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{
			Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID,
		},
	}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	account := pod.Spec.ServiceAccountName
	if account == "" {
		account = "default"
	}
	answer, err := o.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(
		ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token of service account %s: %w", account, err)
	}
	return answer.Status.Token, nil
}
