package main

import (
	"bufio"
	"context"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3api/utils"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
	"github.com/versity/versitygw/s3select"
)

// guard lets through what cannot leave the bucket that the request names.
//
// Invariants:
//   - An upload id, a version id or a part number is exactly of the form that the store makes; no other one reaches a path.
//   - No key has a segment "..", wherever a key is taken from.
//   - What is set on a bucket itself (policy, ACL, CORS, ownership, website, versioning, object lock, tags) and the removal of a
//     bucket are root's alone: a key opens its bucket to nobody else, and leaves nothing behind in it for the next owner.
type guard struct {
	backend.Backend
}

var (
	// uuid.New().String()
	uploadID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	// ulid.Make().String(), or "null". ulid.Parse, which upstream asks, checks nothing but the length.
	versionID = regexp.MustCompile(`^(null|[0-7][0-9A-HJKMNP-TV-Z]{25})$`)
)

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkUpload(id *string) error {
	if !uploadID.MatchString(value(id)) {
		return s3err.GetNoSuchUploadErr(value(id))
	}
	return nil
}

func checkVersion(id *string) error {
	if value(id) != "" && !versionID.MatchString(*id) {
		return s3err.GetInvalidArgumentErr(s3err.InvalidArgVersionId, *id)
	}
	return nil
}

func checkPart(number *int32) error {
	if number == nil || *number < 1 || *number > maxParts {
		return s3err.GetInvalidArgumentErr(s3err.InvalidArgPartNumber, "")
	}
	return nil
}

func checkKey(key *string) error {
	text := value(key)
	if strings.ContainsRune(text, 0) {
		return s3err.GetAPIError(s3err.ErrBadRequest)
	}
	for segment := range strings.SplitSeq(text, "/") {
		if segment == ".." {
			return s3err.GetAPIError(s3err.ErrBadRequest)
		}
	}
	return nil
}

func checkSource(source *string) error {
	_, key, version, err := backend.ParseCopySource(value(source))
	return first(err, checkKey(&key), checkVersion(&version))
}

// checkRoot lets through what the root key signed: the gateway verified the signature before it calls the backend.
func checkRoot(ctx context.Context) error {
	if isRoot, _ := ctx.Value(string(utils.ContextKeyIsRoot)).(bool); !isRoot {
		return s3err.GetAPIError(s3err.ErrAccessDenied)
	}
	return nil
}

// Multipart uploads

func (g guard) CreateMultipartUpload(ctx context.Context, input s3response.CreateMultipartUploadInput) (s3response.InitiateMultipartUploadResult, error) {
	if err := checkKey(input.Key); err != nil {
		return s3response.InitiateMultipartUploadResult{}, err
	}
	return g.Backend.CreateMultipartUpload(ctx, input)
}

func (g guard) CompleteMultipartUpload(ctx context.Context, input *s3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	err := first(checkKey(input.Key), checkUpload(input.UploadId))
	if input.MultipartUpload != nil {
		for _, part := range input.MultipartUpload.Parts {
			err = first(err, checkPart(part.PartNumber))
		}
	}
	if err != nil {
		return s3response.CompleteMultipartUploadResult{}, "", err
	}
	return g.Backend.CompleteMultipartUpload(ctx, input)
}

func (g guard) AbortMultipartUpload(ctx context.Context, input *s3.AbortMultipartUploadInput) error {
	if err := first(checkKey(input.Key), checkUpload(input.UploadId)); err != nil {
		return err
	}
	return g.Backend.AbortMultipartUpload(ctx, input)
}

func (g guard) ListMultipartUploads(ctx context.Context, input *s3.ListMultipartUploadsInput) (s3response.ListMultipartUploadsResult, error) {
	if marker := value(input.UploadIdMarker); marker != "" && !uploadID.MatchString(marker) {
		return s3response.ListMultipartUploadsResult{}, s3err.GetInvalidArgumentErr(s3err.InvalidArgUploadIdMarker, marker)
	}
	return g.Backend.ListMultipartUploads(ctx, input)
}

func (g guard) ListParts(ctx context.Context, input *s3.ListPartsInput) (s3response.ListPartsResult, error) {
	if err := first(checkKey(input.Key), checkUpload(input.UploadId)); err != nil {
		return s3response.ListPartsResult{}, err
	}
	return g.Backend.ListParts(ctx, input)
}

func (g guard) UploadPart(ctx context.Context, input *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	if err := first(checkKey(input.Key), checkUpload(input.UploadId), checkPart(input.PartNumber)); err != nil {
		return nil, err
	}
	return g.Backend.UploadPart(ctx, input)
}

func (g guard) UploadPartCopy(ctx context.Context, input *s3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	err := first(checkKey(input.Key), checkUpload(input.UploadId), checkPart(input.PartNumber), checkSource(input.CopySource))
	if err != nil {
		return s3response.CopyPartResult{}, err
	}
	return g.Backend.UploadPartCopy(ctx, input)
}

// Objects

func (g guard) PutObject(ctx context.Context, input s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	if err := checkKey(input.Key); err != nil {
		return s3response.PutObjectOutput{}, err
	}
	return g.Backend.PutObject(ctx, input)
}

func (g guard) CopyObject(ctx context.Context, input s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	if err := first(checkKey(input.Key), checkSource(input.CopySource)); err != nil {
		return s3response.CopyObjectOutput{}, err
	}
	return g.Backend.CopyObject(ctx, input)
}

func (g guard) HeadObject(ctx context.Context, input *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	if err := first(checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return nil, err
	}
	return g.Backend.HeadObject(ctx, input)
}

func (g guard) GetObject(ctx context.Context, input *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	if err := first(checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return nil, err
	}
	return g.Backend.GetObject(ctx, input)
}

func (g guard) GetObjectAcl(ctx context.Context, input *s3.GetObjectAclInput) (*s3.GetObjectAclOutput, error) {
	if err := first(checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return nil, err
	}
	return g.Backend.GetObjectAcl(ctx, input)
}

func (g guard) GetObjectAttributes(ctx context.Context, input *s3.GetObjectAttributesInput) (s3response.GetObjectAttributesResponse, error) {
	if err := first(checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return s3response.GetObjectAttributesResponse{}, err
	}
	return g.Backend.GetObjectAttributes(ctx, input)
}

func (g guard) DeleteObject(ctx context.Context, input *s3.DeleteObjectInput) (*s3.DeleteObjectOutput, error) {
	if err := first(checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return nil, err
	}
	return g.Backend.DeleteObject(ctx, input)
}

// DeleteObjects answers for each object; those that are refused keep no other one from being deleted.
func (g guard) DeleteObjects(ctx context.Context, input *s3.DeleteObjectsInput) (s3response.DeleteResult, error) {
	accepted := *input
	wanted := types.Delete{Quiet: input.Delete.Quiet}
	var refused []types.Error
	for _, object := range input.Delete.Objects {
		if err := first(checkKey(object.Key), checkVersion(object.VersionId)); err != nil {
			refused = append(refused, s3err.ObjectDeleteError(object.Key, object.VersionId, err))
		} else {
			wanted.Objects = append(wanted.Objects, object)
		}
	}
	accepted.Delete = &wanted
	result, err := g.Backend.DeleteObjects(ctx, &accepted)
	result.Error = append(result.Error, refused...)
	return result, err
}

func (g guard) ListObjectVersions(ctx context.Context, input *s3.ListObjectVersionsInput) (s3response.ListVersionsResult, error) {
	if err := checkVersion(input.VersionIdMarker); err != nil {
		return s3response.ListVersionsResult{}, err
	}
	return g.Backend.ListObjectVersions(ctx, input)
}

func (g guard) RestoreObject(ctx context.Context, input *s3.RestoreObjectInput) error {
	if err := first(checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return err
	}
	return g.Backend.RestoreObject(ctx, input)
}

func (g guard) SelectObjectContent(ctx context.Context, input *s3.SelectObjectContentInput) func(*bufio.Writer) {
	if err := checkKey(input.Key); err != nil {
		return func(w *bufio.Writer) {
			s3select.NewMessageHandler(ctx, w, nil).FinishWithError("InvalidArgument", err.Error())
		}
	}
	return g.Backend.SelectObjectContent(ctx, input)
}

func (g guard) GetObjectTagging(ctx context.Context, bucket, key, version string) (map[string]string, error) {
	if err := first(checkKey(&key), checkVersion(&version)); err != nil {
		return nil, err
	}
	return g.Backend.GetObjectTagging(ctx, bucket, key, version)
}

func (g guard) PutObjectTagging(ctx context.Context, bucket, key, version string, tags map[string]string) error {
	if err := first(checkKey(&key), checkVersion(&version)); err != nil {
		return err
	}
	return g.Backend.PutObjectTagging(ctx, bucket, key, version, tags)
}

func (g guard) DeleteObjectTagging(ctx context.Context, bucket, key, version string) error {
	if err := first(checkKey(&key), checkVersion(&version)); err != nil {
		return err
	}
	return g.Backend.DeleteObjectTagging(ctx, bucket, key, version)
}

func (g guard) GetObjectRetention(ctx context.Context, bucket, key, version string) ([]byte, error) {
	if err := first(checkKey(&key), checkVersion(&version)); err != nil {
		return nil, err
	}
	return g.Backend.GetObjectRetention(ctx, bucket, key, version)
}

func (g guard) GetObjectLegalHold(ctx context.Context, bucket, key, version string) (*bool, error) {
	if err := first(checkKey(&key), checkVersion(&version)); err != nil {
		return nil, err
	}
	return g.Backend.GetObjectLegalHold(ctx, bucket, key, version)
}

// Root's alone

func (g guard) PutObjectAcl(ctx context.Context, input *s3.PutObjectAclInput) error {
	if err := first(checkRoot(ctx), checkKey(input.Key), checkVersion(input.VersionId)); err != nil {
		return err
	}
	return g.Backend.PutObjectAcl(ctx, input)
}

func (g guard) PutObjectRetention(ctx context.Context, bucket, key, version string, retention []byte) error {
	if err := first(checkRoot(ctx), checkKey(&key), checkVersion(&version)); err != nil {
		return err
	}
	return g.Backend.PutObjectRetention(ctx, bucket, key, version, retention)
}

func (g guard) PutObjectLegalHold(ctx context.Context, bucket, key, version string, status bool) error {
	if err := first(checkRoot(ctx), checkKey(&key), checkVersion(&version)); err != nil {
		return err
	}
	return g.Backend.PutObjectLegalHold(ctx, bucket, key, version, status)
}

func (g guard) CreateBucket(ctx context.Context, input *s3.CreateBucketInput, acl []byte) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.CreateBucket(ctx, input, acl)
}

func (g guard) DeleteBucket(ctx context.Context, bucket string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.DeleteBucket(ctx, bucket)
}

func (g guard) PutBucketAcl(ctx context.Context, bucket string, acl []byte) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketAcl(ctx, bucket, acl)
}

func (g guard) PutBucketPolicy(ctx context.Context, bucket string, policy []byte) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketPolicy(ctx, bucket, policy)
}

func (g guard) DeleteBucketPolicy(ctx context.Context, bucket string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.DeleteBucketPolicy(ctx, bucket)
}

func (g guard) PutBucketOwnershipControls(ctx context.Context, bucket string, ownership types.ObjectOwnership) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketOwnershipControls(ctx, bucket, ownership)
}

func (g guard) DeleteBucketOwnershipControls(ctx context.Context, bucket string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.DeleteBucketOwnershipControls(ctx, bucket)
}

func (g guard) PutBucketCors(ctx context.Context, bucket string, cors []byte) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketCors(ctx, bucket, cors)
}

func (g guard) DeleteBucketCors(ctx context.Context, bucket string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.DeleteBucketCors(ctx, bucket)
}

func (g guard) PutBucketWebsite(ctx context.Context, bucket string, website []byte) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketWebsite(ctx, bucket, website)
}

func (g guard) DeleteBucketWebsite(ctx context.Context, bucket string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.DeleteBucketWebsite(ctx, bucket)
}

func (g guard) PutBucketVersioning(ctx context.Context, bucket string, status types.BucketVersioningStatus) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketVersioning(ctx, bucket, status)
}

func (g guard) PutObjectLockConfiguration(ctx context.Context, bucket string, config []byte) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutObjectLockConfiguration(ctx, bucket, config)
}

func (g guard) PutBucketTagging(ctx context.Context, bucket string, tags map[string]string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.PutBucketTagging(ctx, bucket, tags)
}

func (g guard) DeleteBucketTagging(ctx context.Context, bucket string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.DeleteBucketTagging(ctx, bucket)
}

func (g guard) ChangeBucketOwner(ctx context.Context, bucket, owner string) error {
	if err := checkRoot(ctx); err != nil {
		return err
	}
	return g.Backend.ChangeBucketOwner(ctx, bucket, owner)
}

func (g guard) ListBucketsAndOwners(ctx context.Context) ([]s3response.Bucket, error) {
	if err := checkRoot(ctx); err != nil {
		return nil, err
	}
	return g.Backend.ListBucketsAndOwners(ctx)
}
