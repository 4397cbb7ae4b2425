import { archiveEndpoints } from './archives/archives.endpoints.ts';
import { FolderArchives } from './archives/folder-archives.service.ts';
import { grantSource } from './model/access/grants-of-user.sql.ts';
import { batchEndpoints } from './batch/batch.endpoints.ts';
import { Batches } from './batch/batch.service.ts';
import type { Feature } from '../feature/feature.ts';
import { downloadEndpoints } from './downloads/downloads.endpoints.ts';
import { Downloads } from './downloads/downloads.service.ts';
import { downloadLinkEndpoints } from './download-links/download-links.endpoints.ts';
import { DownloadLinks } from './download-links/download-links.service.ts';
import { exportEndpoints } from './exports/exports.endpoints.ts';
import { Exports } from './exports/exports.service.ts';
import { CopyFile } from './files/copy-file.ts';
import { FileMoves } from './files/file-moves.service.ts';
import { FileTrash } from './files/file-trash.service.ts';
import { fileEndpoints } from './files/files.endpoints.ts';
import { FileLists } from './lists/file-lists.service.ts';
import { TrashSchedule } from './trash/trash-schedule.ts';
import { AddVersion } from './versions/add-version.ts';
import { UploadTransfers } from './uploads/upload-transfers.ts';
import { metadataEndpoints } from './metadata/metadata.endpoints.ts';
import { Metadata } from './metadata/metadata.service.ts';
import { tagEndpoints } from './tags/tags.endpoints.ts';
import { Tags } from './tags/tags.service.ts';
import { copyTagsOfFiles } from './tags/tags.sql.ts';
import { Files } from './model/files/files.service.ts';
import { folderEndpoints } from './folders/folders.endpoints.ts';
import { FolderCopies } from './folders/folder-copies.service.ts';
import { FolderLists } from './lists/folder-lists.service.ts';
import { FolderTrash } from './folders/folder-trash.service.ts';
import { Folders } from './folders/folders.service.ts';
import { UserContent } from './upkeep/offboarding.ts';
import { AccessLists } from './sharing/access-lists.service.ts';
import { grantEndpoints } from './sharing/grants.endpoints.ts';
import { Grants } from './sharing/grants.service.ts';
import { Passwords } from '../accounts/passwords.ts';
import { importEndpoints } from './imports/imports.endpoints.ts';
import { Imports } from './imports/imports.service.ts';
import { searchEndpoints } from './search/search.endpoints.ts';
import { Search } from './search/search.service.ts';
import { shareDownloadEndpoints } from './sharing/share-downloads.endpoints.ts';
import { folderLinkEndpoints } from './sharing/folder-links.endpoints.ts';
import { linkUploadEndpoints } from './sharing/link-uploads.endpoints.ts';
import { linkResumableUploadEndpoints } from './sharing/link-resumable-uploads.endpoints.ts';
import { linkServices } from './sharing/link-services.ts';
import { sharePages } from './sharing/share-page.ts';
import { shareEndpoints } from './sharing/shares.endpoints.ts';
import { partialUploadEndpoints } from './uploads/partial/partial-uploads.endpoints.ts';
import { PartialUploads } from './uploads/partial/partial-uploads.service.ts';
import { Shares } from './sharing/shares.service.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import type { TransferLimits } from './blobs/transfer-limits.ts';
import { Transfers } from './blobs/transfers.ts';
import { trashEndpoints } from './trash/trash.ts';
import { Blobs } from './blobs/blobs.ts';
import { uploadEndpoints } from './files/uploads.endpoints.ts';
import { DEFAULT_MAX_UPLOAD_BYTES } from './uploads/uploads.schema.ts';
import { Uploads } from './uploads/uploads.service.ts';
import { versionEndpoints } from './versions/versions.endpoints.ts';
import { BeyondNewest } from './lists/beyond-newest.ts';
import { FileTexts } from './model/files/file-texts.ts';
import { VersionSchedule } from './model/files/version-schedule.ts';
import { Versions } from './versions/versions.service.ts';

export type { TransferLimits } from './blobs/transfer-limits.ts';

/**
 * Returns the feature of files and folders with their tags, metadata, grants and shares. `limits` (for tests) override the
 * default limits of uploads and downloads.
 */
export const contentFeature = (limits: Partial<TransferLimits> = {}): Feature => ({
  name: 'content',
  grantSource,
  create(services) {
    const { tenant, addresses, settings } = services;
    const { apiUrl } = addresses;
    const known = { fileTexts: new FileTexts(), beyondNewest: new BeyondNewest() };
    const deps = { ...services, ...known, tenantId: tenant.id, apiUrl, bucket: settings.bucket };
    const tasks = new TaskRequests(services);
    const files = new Files(deps);
    const search = new Search(deps);
    const blobs = new Blobs(deps);
    const transfers = new Transfers({ ...deps, limits });
    const trash = new TrashSchedule(deps);
    const fileLists = new FileLists({ ...deps, files });
    const fileMoves = new FileMoves(deps);
    const schedule = new VersionSchedule(deps);
    const maxBytes = settings.maxUploadBytes ?? DEFAULT_MAX_UPLOAD_BYTES;
    const uploadTransfers = new UploadTransfers({ ...deps, blobs, transfers, maxBytes });
    const written = { ...deps, files, blobs, transfers: uploadTransfers, schedule };
    const uploads = new Uploads(written);
    const partialUploads = new PartialUploads({ ...deps, uploads, blobs, transfers, maxBytes });
    const downloads = new Downloads({ ...deps, files, transfers });
    const versions = new Versions({ ...deps, schedule, files, downloads });
    const archives = new FolderArchives({ ...deps, transfers });
    const exports = new Exports({ ...deps, tasks });
    let hashing: Passwords | undefined;
    // Created when a link first has a password: most servers never need it.
    const passwords = (): Passwords => (hashing ??= new Passwords());
    const links = linkServices({ ...deps, downloads, archives, passwords, maxBytes });
    const userContent = new UserContent(deps);
    return {
      endpoints: [
        ...tagEndpoints(new Tags({ ...deps, files })),
        ...fileEndpoints({ lists: fileLists, moves: fileMoves, trash: new FileTrash({ ...deps, trash }) }),
        ...uploadEndpoints({
          uploads,
          versions: new AddVersion(written),
          moves: fileMoves,
          copies: new CopyFile(written),
          apiUrl,
        }),
        ...partialUploadEndpoints(partialUploads, (actor) => uploads.signedIn(actor)),
        ...downloadEndpoints(downloads),
        ...versionEndpoints(versions),
        ...archiveEndpoints(archives),
        ...exportEndpoints(exports),
        ...downloadLinkEndpoints(new DownloadLinks({ ...deps, files, downloads, versions, archives, exports }), apiUrl),
        ...folderEndpoints({
          folders: new Folders(deps),
          lists: new FolderLists(deps),
          trash: new FolderTrash({ ...deps, trash }),
          copies: new FolderCopies({ ...deps, tasks }),
        }),
        ...searchEndpoints(search),
        ...batchEndpoints(new Batches({ ...deps, tasks, fileLists, search, passwords, appUrl: addresses.appUrl })),
        ...importEndpoints(new Imports({ ...deps, tasks, files, blobs, transfers, maxBytes })),
        ...trashEndpoints({ ...services, tasks }),
        ...grantEndpoints(new Grants(deps), new AccessLists(deps)),
        ...shareEndpoints(new Shares({ ...deps, passwords, appUrl: addresses.appUrl })),
        ...shareDownloadEndpoints(links.downloads),
        ...folderLinkEndpoints(links.folders),
        ...linkUploadEndpoints({ links: links.uploads, uploads }),
        ...linkResumableUploadEndpoints({ links: links.uploads, uploads: partialUploads }),
        ...metadataEndpoints(new Metadata({ ...deps, files })),
      ],
      pages: sharePages({ ...links, web: deps.web, apiPath: new URL(apiUrl).pathname }),
      onUserRemoved: async (tx, user) => {
        // While the files are still theirs.
        if (user.newOwner) await copyTagsOfFiles(tx, user.id, user.newOwner.id);
        await userContent.onUserRemoved(tx, user);
        await exports.removeOf(tx, user.id);
      },
    };
  },
});
