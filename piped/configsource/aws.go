// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configsource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
)

// awsService is one of the two services that are asked, with one call each.
type awsService struct {
	// name is the service in addresses and signatures, env in AWS's variables for other addresses.
	name, env string
	// target is the call, permission what a user has to allow.
	target, permission string
}

var (
	secretsManager = awsService{
		"secretsmanager", "SECRETS_MANAGER", "secretsmanager.GetSecretValue", "secretsmanager:GetSecretValue",
	}
	systemsManager = awsService{"ssm", "SSM", "AmazonSSM.GetParameter", "ssm:GetParameter"}
)

func (c *cloud) awsSecret(ctx context.Context, id string) ([]byte, error) {
	body, err := c.aws(ctx, secretsManager, id, map[string]any{"SecretId": id})
	if err != nil {
		return nil, err
	}
	return awsSecretOf(body)
}

func awsSecretOf(body []byte) ([]byte, error) {
	var answer struct {
		SecretString string
		SecretBinary []byte
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, errors.New("the answer of AWS Secrets Manager is not as expected: it is no JSON with a secret")
	}
	if len(answer.SecretBinary) > 0 {
		return answer.SecretBinary, nil
	}
	if answer.SecretString == "" {
		return nil, errors.New("the secret is empty; put the configuration in base64 into it")
	}
	return plain(answer.SecretString), nil
}

func (c *cloud) awsParameter(ctx context.Context, name string) ([]byte, error) {
	body, err := c.aws(ctx, systemsManager, name, map[string]any{"Name": name, "WithDecryption": true})
	if err != nil {
		return nil, err
	}
	return awsParameterOf(body)
}

func awsParameterOf(body []byte) ([]byte, error) {
	var answer struct{ Parameter struct{ Value string } }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, errors.New("the answer of AWS Systems Manager is not as expected: it is no JSON with a parameter")
	}
	if answer.Parameter.Value == "" {
		return nil, errors.New("the parameter is empty; put the configuration in base64 into it")
	}
	return plain(answer.Parameter.Value), nil
}

// aws makes a signed call. The region is that of the id when it is an ARN, else the configured one.
func (c *cloud) aws(ctx context.Context, service awsService, id string, call map[string]any) ([]byte, error) {
	settings, err := awsconfig.LoadDefaultConfig(
		ctx, awsconfig.WithLogger(logging.Nop{}),
	) // what matters is in its errors
	if err != nil {
		return nil, fmt.Errorf("read the settings for AWS: %w; see AWS_PROFILE and the files in ~/.aws", err)
	}
	region, partition := settings.Region, ""
	if arn := strings.Split(id, ":"); len(arn) > 4 && arn[0] == "arn" {
		partition, region = arn[1], arn[3]
	}
	if region == "" {
		return nil, errors.New("the AWS region is not known; set AWS_REGION, or name the secret by its ARN")
	}
	payload, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	address := c.awsAddress(settings, service, region, partition)
	// The SDK's client: it knows AWS_CA_BUNDLE.
	body, err := c.do(ctx, settings.HTTPClient, func() (*http.Request, error) {
		return signed(ctx, settings, service, region, address, payload)
	})
	if err != nil {
		return nil, awsRefused(service, region, err)
	}
	return body, nil
}

func (c *cloud) awsAddress(settings aws.Config, service awsService, region, partition string) string {
	if address := c.getenv("AWS_ENDPOINT_URL_" + service.env); address != "" {
		return strings.TrimSuffix(address, "/") + "/"
	}
	if settings.BaseEndpoint != nil {
		return strings.TrimSuffix(*settings.BaseEndpoint, "/") + "/"
	}
	domain := "amazonaws.com"
	if partition == "aws-cn" || strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://" + service.name + "." + region + "." + domain + "/"
}

// signed makes a request of AWS's JSON protocol.
func signed(
	ctx context.Context, settings aws.Config, service awsService, region, address string, payload []byte,
) (*http.Request, error) {
	credentials, err := settings.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, &credentialsError{err, true} // the SDK has tried several times
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", service.target)
	sum := sha256.Sum256(payload)
	return r, v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), service.name, region, time.Now())
}

func awsRefused(service awsService, region string, err error) error {
	var missing *credentialsError
	var refused *refusedError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf(
			"find credentials for AWS: %w; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give "+
				"the pod or machine a role",
			missing.error,
		)
	case !errors.As(err, &refused):
		return fmt.Errorf("ask AWS %s in %s: %w; see that this machine reaches it", service.name, region, err)
	}
	var answer struct {
		Type         string `json:"__type"`
		Message      string `json:"message"`
		MessageUpper string `json:"Message"`
	}
	_ = json.Unmarshal(refused.body, &answer)
	kind := answer.Type[strings.LastIndex(answer.Type, "#")+1:]
	said := fmt.Sprintf(
		"AWS %s in %s answers %v %s %q", service.name, region, refused, kind, answer.Message+answer.MessageUpper,
	)
	switch kind {
	case "AccessDeniedException":
		return fmt.Errorf("%s; allow %s (and kms:Decrypt for your own key)", said, service.permission)
	case "ResourceNotFoundException", "ParameterNotFound":
		return fmt.Errorf("%s; see that the name and the region are right (AWS_REGION)", said)
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "InvalidClientTokenId":
		return fmt.Errorf("%s; AWS does not know these credentials: renew them", said)
	default:
		return errors.New(said)
	}
}
